"""Measures publications over HTTP on the memory store."""

from support import ingest

ingest.main("http_ingest_memory", "memory:")
