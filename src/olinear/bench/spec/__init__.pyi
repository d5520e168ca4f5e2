from olinear.bench.spec.jobs import spell as spell
from olinear.bench.spec.jobs import study_jobs as study_jobs
from olinear.bench.spec.study import Study as Study
from olinear.bench.spec.study import find_study as find_study
from olinear.bench.spec.study import studies as studies
from olinear.bench.spec.task import own_tasks as own_tasks
from olinear.bench.spec.task import published as published
from olinear.bench.spec.task import tasks as tasks
