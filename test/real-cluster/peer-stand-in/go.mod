module rollout-operator.test/peer-stand-in

go 1.26.0
