//! Which EVEX instructions execute: those of copies, checksums, comparisons and string functions; no floating-point
//! arithmetic, gathers, scatters, compressions.

use iced_x86::Mnemonic;

/// Bytes of an element by which the mask chooses, of the destination; 0: the instruction has no mask. `None`: unknown to this
/// front end.
pub(crate) fn element(op: Mnemonic) -> Option<u8> {
    bytes(op).or_else(|| words(op)).or_else(|| doublewords(op)).or_else(|| quadwords(op)).or_else(|| {
        use Mnemonic::*;
        let unmasked = matches!(
            op,
            Vmovntdq
                | Vmovntdqa
                | Vmovntps
                | Vmovntpd
                | Vmovd
                | Vmovq
                | Vpsadbw
                | Vpslldq
                | Vpsrldq
                | Vpinsrb
                | Vpinsrw
                | Vpinsrd
                | Vpinsrq
                | Vpextrb
                | Vpextrw
                | Vpextrd
                | Vpextrq
                | Vpmovm2b
                | Vpmovm2w
                | Vpmovm2d
                | Vpmovm2q
                | Vpmovb2m
                | Vpmovw2m
                | Vpmovd2m
                | Vpmovq2m
                | Vpbroadcastmb2q
                | Vpbroadcastmw2d
        );
        unmasked.then_some(0)
    })
}

fn bytes(op: Mnemonic) -> Option<u8> {
    use Mnemonic::*;
    matches!(
        op,
        Vmovdqu8
            | Vpaddb
            | Vpsubb
            | Vpaddsb
            | Vpaddusb
            | Vpsubsb
            | Vpsubusb
            | Vpavgb
            | Vpminub
            | Vpminsb
            | Vpmaxub
            | Vpmaxsb
            | Vpabsb
            | Vpunpcklbw
            | Vpunpckhbw
            | Vpacksswb
            | Vpackuswb
            | Vpshufb
            | Vpalignr
            | Vpbroadcastb
            | Vpblendmb
            | Vpcmpb
            | Vpcmpub
            | Vpcmpeqb
            | Vpcmpgtb
            | Vptestmb
            | Vptestnmb
            | Vpmovwb
            | Vpmovdb
            | Vpmovqb
    )
    .then_some(1)
}

fn words(op: Mnemonic) -> Option<u8> {
    use Mnemonic::*;
    matches!(
        op,
        Vmovdqu16
            | Vpaddw
            | Vpsubw
            | Vpaddsw
            | Vpaddusw
            | Vpsubsw
            | Vpsubusw
            | Vpavgw
            | Vpminuw
            | Vpminsw
            | Vpmaxuw
            | Vpmaxsw
            | Vpabsw
            | Vpmullw
            | Vpmulhw
            | Vpmulhuw
            | Vpmulhrsw
            | Vpmaddubsw
            | Vpunpcklwd
            | Vpunpckhwd
            | Vpackssdw
            | Vpackusdw
            | Vpshuflw
            | Vpshufhw
            | Vpbroadcastw
            | Vpblendmw
            | Vpcmpw
            | Vpcmpuw
            | Vpcmpeqw
            | Vpcmpgtw
            | Vptestmw
            | Vptestnmw
            | Vpmovdw
            | Vpmovqw
            | Vpmovzxbw
            | Vpmovsxbw
            | Vpsllw
            | Vpsrlw
            | Vpsraw
            | Vpsllvw
            | Vpsrlvw
            | Vpsravw
            | Vpermw
            | Vpermi2w
            | Vpermt2w
    )
    .then_some(2)
}

fn doublewords(op: Mnemonic) -> Option<u8> {
    use Mnemonic::*;
    matches!(
        op,
        Vmovdqu32
            | Vmovdqa32
            | Vmovups
            | Vmovaps
            | Vpaddd
            | Vpsubd
            | Vpminud
            | Vpminsd
            | Vpmaxud
            | Vpmaxsd
            | Vpabsd
            | Vpmulld
            | Vpmaddwd
            | Vpunpckldq
            | Vpunpckhdq
            | Vunpcklps
            | Vunpckhps
            | Vpshufd
            | Vshufps
            | Vpermilps
            | Vmovsldup
            | Vmovshdup
            | Vpandd
            | Vpandnd
            | Vpord
            | Vpxord
            | Vandps
            | Vandnps
            | Vorps
            | Vxorps
            | Vpternlogd
            | Vpbroadcastd
            | Vbroadcastss
            | Vpblendmd
            | Vblendmps
            | Vpcmpd
            | Vpcmpud
            | Vpcmpeqd
            | Vpcmpgtd
            | Vptestmd
            | Vptestnmd
            | Vpmovqd
            | Vpmovzxbd
            | Vpmovsxbd
            | Vpmovzxwd
            | Vpmovsxwd
            | Vpslld
            | Vpsrld
            | Vpsrad
            | Vpsllvd
            | Vpsrlvd
            | Vpsravd
            | Vprold
            | Vprord
            | Vprolvd
            | Vprorvd
            | Valignd
            | Vpermd
            | Vpermps
            | Vpermi2d
            | Vpermt2d
            | Vpermi2ps
            | Vpermt2ps
            | Vshufi32x4
            | Vshuff32x4
            | Vinserti32x4
            | Vinsertf32x4
            | Vinserti32x8
            | Vinsertf32x8
            | Vextracti32x4
            | Vextractf32x4
            | Vextracti32x8
            | Vextractf32x8
            | Vbroadcasti32x2
            | Vbroadcastf32x2
            | Vbroadcasti32x4
            | Vbroadcastf32x4
            | Vbroadcasti32x8
            | Vbroadcastf32x8
            | Vplzcntd
            | Vpconflictd
    )
    .then_some(4)
}

fn quadwords(op: Mnemonic) -> Option<u8> {
    use Mnemonic::*;
    matches!(
        op,
        Vmovdqu64
            | Vmovdqa64
            | Vmovupd
            | Vmovapd
            | Vmovddup
            | Vpaddq
            | Vpsubq
            | Vpminuq
            | Vpminsq
            | Vpmaxuq
            | Vpmaxsq
            | Vpabsq
            | Vpmullq
            | Vpmuludq
            | Vpmuldq
            | Vpunpcklqdq
            | Vpunpckhqdq
            | Vunpcklpd
            | Vunpckhpd
            | Vshufpd
            | Vpermilpd
            | Vpandq
            | Vpandnq
            | Vporq
            | Vpxorq
            | Vandpd
            | Vandnpd
            | Vorpd
            | Vxorpd
            | Vpternlogq
            | Vpbroadcastq
            | Vbroadcastsd
            | Vpblendmq
            | Vblendmpd
            | Vpcmpq
            | Vpcmpuq
            | Vpcmpeqq
            | Vpcmpgtq
            | Vptestmq
            | Vptestnmq
            | Vpmovzxbq
            | Vpmovsxbq
            | Vpmovzxwq
            | Vpmovsxwq
            | Vpmovzxdq
            | Vpmovsxdq
            | Vpsllq
            | Vpsrlq
            | Vpsraq
            | Vpsllvq
            | Vpsrlvq
            | Vpsravq
            | Vprolq
            | Vprorq
            | Vprolvq
            | Vprorvq
            | Valignq
            | Vpermq
            | Vpermpd
            | Vpermi2q
            | Vpermt2q
            | Vpermi2pd
            | Vpermt2pd
            | Vshufi64x2
            | Vshuff64x2
            | Vinserti64x2
            | Vinsertf64x2
            | Vinserti64x4
            | Vinsertf64x4
            | Vextracti64x2
            | Vextractf64x2
            | Vextracti64x4
            | Vextractf64x4
            | Vbroadcasti64x2
            | Vbroadcastf64x2
            | Vbroadcasti64x4
            | Vbroadcastf64x4
            | Vplzcntq
            | Vpconflictq
    )
    .then_some(8)
}

/// Bytes of a source element of a move that narrows.
pub(crate) fn narrows_from(op: Mnemonic) -> Option<u8> {
    use Mnemonic::*;
    Some(match op {
        Vpmovwb => 2,
        Vpmovdb | Vpmovdw => 4,
        Vpmovqb | Vpmovqw | Vpmovqd => 8,
        _ => return None,
    })
}

/// How many times wider the results of a move that widens are.
pub(crate) fn widens_by(op: Mnemonic) -> Option<u8> {
    use Mnemonic::*;
    Some(match op {
        Vpmovzxbw | Vpmovsxbw | Vpmovzxwd | Vpmovsxwd | Vpmovzxdq | Vpmovsxdq => 2,
        Vpmovzxbd | Vpmovsxbd | Vpmovzxwq | Vpmovsxwq => 4,
        Vpmovzxbq | Vpmovsxbq => 8,
        _ => return None,
    })
}

/// Whether a memory source's elements that the mask leaves out cannot fault: not in the manual's classes E4NF and E6NF; to them
/// belong shifts by a count in memory (`sources`: operands that are not immediates).
pub(crate) fn suppresses_faults(op: Mnemonic, sources: u8) -> bool {
    use Mnemonic::*;
    let by_count = matches!(op, Vpsllw | Vpslld | Vpsllq | Vpsrlw | Vpsrld | Vpsrlq | Vpsraw | Vpsrad | Vpsraq);
    let count = by_count && sources > 2;
    !count
        && !matches!(
            op,
            Vpunpcklbw
                | Vpunpckhbw
                | Vpunpcklwd
                | Vpunpckhwd
                | Vpunpckldq
                | Vpunpckhdq
                | Vpunpcklqdq
                | Vpunpckhqdq
                | Vunpcklps
                | Vunpckhps
                | Vunpcklpd
                | Vunpckhpd
                | Vpacksswb
                | Vpackuswb
                | Vpackssdw
                | Vpackusdw
                | Vpshufb
                | Vpalignr
                | Vpshufd
                | Vpshuflw
                | Vpshufhw
                | Vshufps
                | Vshufpd
                | Vpermilps
                | Vpermilpd
                | Vmovsldup
                | Vmovshdup
                | Vmovddup
                | Valignd
                | Valignq
                | Vpermw
                | Vpermd
                | Vpermps
                | Vpermq
                | Vpermpd
                | Vpermi2w
                | Vpermi2d
                | Vpermi2q
                | Vpermi2ps
                | Vpermi2pd
                | Vpermt2w
                | Vpermt2d
                | Vpermt2q
                | Vpermt2ps
                | Vpermt2pd
                | Vshufi32x4
                | Vshuff32x4
                | Vshufi64x2
                | Vshuff64x2
                | Vinserti32x4
                | Vinsertf32x4
                | Vinserti64x2
                | Vinsertf64x2
                | Vinserti32x8
                | Vinsertf32x8
                | Vinserti64x4
                | Vinsertf64x4
                | Vpmaddubsw
                | Vpmaddwd
                | Vpconflictd
                | Vpconflictq
        )
}

/// Whether a memory source holds an element for each lane; else it is one vector or element for all of them.
pub(crate) fn loads_by_lane(op: Mnemonic) -> bool {
    use Mnemonic::*;
    !matches!(
        op,
        Vpbroadcastb
            | Vpbroadcastw
            | Vpbroadcastd
            | Vpbroadcastq
            | Vbroadcastss
            | Vbroadcastsd
            | Vbroadcasti32x2
            | Vbroadcastf32x2
            | Vbroadcasti32x4
            | Vbroadcastf32x4
            | Vbroadcasti64x2
            | Vbroadcastf64x2
            | Vbroadcasti32x8
            | Vbroadcastf32x8
            | Vbroadcasti64x4
            | Vbroadcastf64x4
    )
}
