"""The plots this package comes with, a file for each group: name, words and view of each."""
