from olinear.bench.store.results import Row as Row
from olinear.bench.store.results import finished as finished
from olinear.bench.store.results import read_results as read_results
from olinear.bench.store.results import repeat_quick as repeat_quick
