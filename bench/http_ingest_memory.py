"""Ingest over HTTP where events stay in memory."""

from support import ingest

ingest.main("http_ingest_memory", "memory:")
