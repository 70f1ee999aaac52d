"""What comes in from other programs, and what goes out.

``importing.import_files`` makes campaigns of files (or adds cards and knowledge to one) and reports what it did;
``exporting.export`` writes a campaign to a bundle, a book or another program's file. Both are public (U24). Each
foreign format is a module that fills a ``plan.Plan``; bundles stream by themselves.
"""
