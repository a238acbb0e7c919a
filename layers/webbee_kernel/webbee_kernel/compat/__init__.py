"""Extensions written for other SDKs, run unchanged: one package per SDK, imported only where one of
its extensions is loaded."""
