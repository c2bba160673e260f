//! The queue by itself: a tiny pipeline drives it and notes cycles.
