"""Result rows as CSV files."""
