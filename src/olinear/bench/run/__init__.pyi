from olinear.bench.run.planning import Plan as Plan
from olinear.bench.run.planning import matrix_speed as matrix_speed
from olinear.bench.run.planning import wall_seconds as wall_seconds
from olinear.bench.run.pool import State as State
from olinear.bench.run.worker import Message as Message
