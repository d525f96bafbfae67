SELECT journal_mode, page_count, freelist_count FROM pragma_journal_mode, pragma_page_count, pragma_freelist_count
