from olinear.bench.spec.identity import JobKey as JobKey
from olinear.bench.spec.identity import TaskKey as TaskKey
from olinear.bench.spec.identity import Variant as Variant
from olinear.bench.spec.jobs import recipe as recipe
from olinear.bench.spec.study import studies as studies
from olinear.bench.spec.task import published as published
from olinear.bench.spec.task import tasks as tasks
