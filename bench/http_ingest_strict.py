"""Measures publications over HTTP on a file, strict: every response waits for an fsync."""

from support import ingest

ingest.main("http_ingest_strict", "file:{folder}/bus.db")
