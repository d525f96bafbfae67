//! Normal form: a table of reviewed equivalences, one file each.
