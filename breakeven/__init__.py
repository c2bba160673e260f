"""Which memory-copy or checksum routine wins, from which size and alignment on, and on which hardware."""
