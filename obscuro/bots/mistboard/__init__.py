"""The engine behind Mistboard's engine protocol: a service on HTTP that answers turns."""
