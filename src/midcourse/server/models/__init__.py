"""The values that the API sends and takes. Domain values are sent as they are stored."""
