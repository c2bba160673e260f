//! Near matches for names that do not exist.

/// Edits (insert, delete, replace) that turn `a` into `b`, letter case aside.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// "; did you mean X?" when one of `known` is near to `name`, and what is known when that is not a long list.
pub(super) fn suggest(name: &str, known: &[&str]) -> String {
    let limit = (name.chars().count() / 3).max(2);
    let near = known.iter().map(|k| (distance(name, k), *k)).min().filter(|(d, _)| *d <= limit);
    let short = known.len() <= 16;
    match near {
        Some((_, k)) if short => format!("; did you mean {k}? (known: {})", known.join(", ")),
        Some((_, k)) => format!("; did you mean {k}?"),
        None if short => format!("; known: {}", known.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert!(suggest("TournamentBp", &["LocalBP", "TournamentBP"]).contains("did you mean TournamentBP?"));
        assert!(suggest("TAGE_SC_L", &["LocalBP"]).starts_with("; known: LocalBP"));
    }
}
