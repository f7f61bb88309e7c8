"""Where the optional scikit-learn is missing, nothing here can be collected."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("sklearn") else ["test_*.py"]
