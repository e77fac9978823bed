//! Computed-style colours in any notation, converted to displayed colours.

/// A displayed colour in sRGB: each channel from 0 to 255, alpha from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour {
    rgb: [f64; 3],
    alpha: f64,
}

/// The prefixes of colour notations, including the bracket.
const NOTATIONS: [&str; 7] = ["rgb(", "rgba(", "oklch(", "oklab(", "lch(", "lab(", "color("];

impl Colour {
    pub const WHITE: Self = Self { rgb: [255.0; 3], alpha: 1.0 };
    /// Channel difference below which two colours are indistinguishable.
    const SAME_COLOUR_DISTANCE: f64 = 12.0;

    /// Parses `rgb(1, 2, 3)`, `rgba(1, 2, 3, 0.4)`, `oklch(0.5 0.1 120)`, `color(display-p3 1 0 0 / 0.5)` and
    /// similar: the forms that browsers compute all other notations to.
    pub fn parse(text: &str) -> Option<Self> {
        let (notation, inner) = text.strip_suffix(')')?.split_once('(')?;
        let (inner, alpha) = match inner.split_once('/') {
            Some((inner, alpha)) => (inner, Some(fraction(alpha)?)),
            None => (inner, None),
        };
        let mut parts = inner.split([',', ' ']).filter(|part| !part.is_empty());
        let space = if notation == "color" { parts.next()? } else { notation };
        let scale = |part: &str, maximum: f64| match part.strip_suffix('%') {
            Some(percent) => percent.parse::<f64>().ok().map(|percent| percent / 100.0 * maximum),
            None if part == "none" => Some(0.0),
            None => part.strip_suffix("deg").unwrap_or(part).parse().ok(),
        };
        // The value of 100 % for each channel.
        let full_values = match space {
            "rgb" | "rgba" => [255.0; 3],
            "lab" => [100.0, 125.0, 125.0],
            "lch" => [100.0, 150.0, 360.0],
            "oklab" => [1.0, 0.4, 0.4],
            "oklch" => [1.0, 0.4, 360.0],
            _ => [1.0; 3],
        };
        let mut channel = |index: usize| scale(parts.next()?, *full_values.get(index)?);
        let channels = [channel(0)?, channel(1)?, channel(2)?];
        let alpha = alpha.or_else(|| scale(parts.next()?, 1.0)).unwrap_or(1.0);
        let rgb = match space {
            "rgb" | "rgba" => channels,
            "srgb-linear" => to_srgb(channels),
            "lab" => to_srgb(lab(channels)),
            "lch" => to_srgb(lab(polar_to_axes(channels))),
            "oklab" => to_srgb(oklab(channels)),
            "oklch" => to_srgb(oklab(polar_to_axes(channels))),
            "xyz" | "xyz-d65" => to_srgb(multiply(&FROM_XYZ, channels)),
            "xyz-d50" => to_srgb(multiply(&FROM_XYZ_D50, channels)),
            "display-p3" => to_srgb(multiply(&FROM_P3, channels.map(linear))),
            // Their black, white and grey match sRGB; out-of-gamut colours do not matter here.
            "srgb" | "a98-rgb" | "prophoto-rgb" | "rec2020" => channels.map(|channel| channel * 255.0),
            _ => return None,
        };
        Some(Self { rgb: rgb.map(|channel| channel.clamp(0.0, 255.0)), alpha })
    }

    /// Returns whether it is practically transparent.
    pub fn is_transparent(&self) -> bool {
        self.alpha < 0.05
    }

    /// Composites it over another colour. Over an unknown colour the result is known only if this one is
    /// opaque.
    pub fn over(self, background: Option<Self>) -> Option<Self> {
        if self.alpha >= 0.999 {
            return Some(self);
        }
        let background = background?;
        let mut rgb = background.rgb;
        for (mixed, channel) in rgb.iter_mut().zip(self.rgb) {
            *mixed = *mixed * (1.0 - self.alpha) + channel * self.alpha;
        }
        Some(Self { rgb, alpha: 1.0 })
    }

    pub fn is_like(self, other: Self) -> bool {
        self.rgb.iter().zip(other.rgb).all(|(a, b)| (a - b).abs() < Self::SAME_COLOUR_DISTANCE)
    }
}

/// Returns the colours written in a computed style, such as in a gradient.
pub(super) fn colours_in(text: &str) -> Vec<Colour> {
    let mut starts: Vec<usize> =
        NOTATIONS.iter().flat_map(|name| text.match_indices(name).map(|(index, _)| index)).collect();
    // One name may be the suffix of another.
    let starts_notation = |index: usize| {
        !text.get(..index).is_some_and(|before| before.ends_with(|letter: char| letter.is_ascii_alphabetic()))
    };
    starts.retain(|index| starts_notation(*index));
    starts.sort_unstable();
    starts.dedup();
    let colour = |index: usize| {
        let rest = text.get(index..)?;
        Colour::parse(rest.get(..=rest.find(')')?)?)
    };
    starts.into_iter().filter_map(colour).collect()
}

/// Parses a fraction of one, written as a number or per cent.
pub(super) fn fraction(text: &str) -> Option<f64> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok().map(|percent| percent / 100.0),
        None if text == "none" => Some(0.0),
        None => text.parse().ok(),
    }
}

type Matrix = [[f64; 3]; 3];

// The matrices are from CSS Color 4, section 18 (sample code for colour conversions), and from Oklab's author.
const FROM_XYZ: Matrix = [
    [3.240_969_942, -1.537_383_178, -0.498_610_760],
    [-0.969_243_636, 1.875_967_502, 0.041_555_057],
    [0.055_630_080, -0.203_976_959, 1.056_971_514],
];
const FROM_XYZ_D50: Matrix = [
    [3.134_135_957, -1.617_386_332, -0.490_661_946],
    [-0.978_795_503, 1.916_254_567, 0.033_442_731],
    [0.071_955_380, -0.228_976_826, 1.405_386_058],
];
const FROM_P3: Matrix = [
    [1.224_940_176, -0.224_940_176, 0.0],
    [-0.042_056_955, 1.042_056_955, 0.0],
    [-0.019_637_555, -0.078_636_046, 1.098_273_600],
];
const FROM_LMS: Matrix = [
    [4.076_741_662, -3.307_711_591, 0.230_969_929],
    [-1.268_438_005, 2.609_757_401, -0.341_319_397],
    [-0.004_196_086, -0.703_418_615, 1.707_614_701],
];
const TO_LMS: Matrix = [
    [1.0, 0.396_337_777, 0.215_803_757],
    [1.0, -0.105_561_346, -0.063_854_173],
    [1.0, -0.089_484_178, -1.291_485_548],
];
/// The print white point, D50, in XYZ.
const WHITE_D50: [f64; 3] = [0.964_295_676, 1.0, 0.825_104_602];

fn multiply(matrix: &Matrix, [a, b, c]: [f64; 3]) -> [f64; 3] {
    matrix.map(|[x, y, z]| x * a + y * b + z * c)
}

/// Converts lightness, chroma and hue to lightness and two axes.
fn polar_to_axes([light, chroma, hue]: [f64; 3]) -> [f64; 3] {
    let hue = hue.to_radians();
    [light, chroma * hue.cos(), chroma * hue.sin()]
}

fn oklab(lab: [f64; 3]) -> [f64; 3] {
    multiply(&FROM_LMS, multiply(&TO_LMS, lab).map(|root| root.powi(3)))
}

fn lab([light, a, b]: [f64; 3]) -> [f64; 3] {
    // CIE 15: the point where the cube gives way to a straight line.
    const KAPPA: f64 = 24_389.0 / 27.0;
    let y = (light + 16.0) / 116.0;
    let cubed = |root: f64| {
        let cube = root.powi(3);
        if cube > 216.0 / 24_389.0 { cube } else { (116.0 * root - 16.0) / KAPPA }
    };
    let [x, y, z] = [y + a / 500.0, y, y - b / 200.0].map(cubed);
    let [white_x, white_y, white_z] = WHITE_D50;
    multiply(&FROM_XYZ_D50, [x * white_x, y * white_y, z * white_z])
}

/// Converts an sRGB channel to linear light.
fn linear(channel: f64) -> f64 {
    if channel <= 0.040_45 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
}

/// Converts linear light to sRGB, scaled to 255.
fn to_srgb(light: [f64; 3]) -> [f64; 3] {
    light.map(|channel| {
        let channel = channel.clamp(0.0, 1.0);
        let encoded =
            if channel <= 0.003_130_8 { channel * 12.92 } else { 1.055 * channel.powf(1.0 / 2.4) - 0.055 };
        encoded * 255.0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_notation_parses() {
        for (text, rgb, alpha) in [
            ("rgb(18, 52, 86)", [18.0, 52.0, 86.0], 1.0),
            ("rgba(0, 0, 0, 0.01)", [0.0; 3], 0.01),
            ("rgb(10 20 30 / 40%)", [10.0, 20.0, 30.0], 0.4),
            ("oklch(1 0 0)", [255.0; 3], 1.0),
            ("oklch(0.627955 0.257704 29.2346)", [255.0, 0.0, 0.0], 1.0),
            ("oklch(0 0 none / 0)", [0.0; 3], 0.0),
            ("oklab(0.452014 -0.032457 -0.311528)", [0.0, 0.0, 255.0], 1.0),
            ("lab(100 0 0)", [255.0; 3], 1.0),
            ("lab(46.2775 -47.5621 48.5837)", [0.0, 128.0, 0.0], 1.0),
            ("lch(54.2917 106.8390 40.8526)", [255.0, 0.0, 0.0], 1.0),
            ("color(srgb 1 0.5 0 / 0.25)", [255.0, 127.5, 0.0], 0.25),
            ("color(srgb-linear 0.2158605 0.2158605 0.2158605)", [128.0; 3], 1.0),
            ("color(display-p3 1 1 1)", [255.0; 3], 1.0),
            ("color(display-p3 0 1 0)", [0.0, 255.0, 0.0], 1.0),
            ("color(rec2020 0 0 0)", [0.0; 3], 1.0),
            ("color(xyz-d65 0.9505 1 1.089)", [255.0; 3], 1.0),
            ("color(xyz-d50 0.9643 1 0.8251)", [255.0; 3], 1.0),
        ] {
            let colour = Colour::parse(text).unwrap_or_else(|| panic!("{text}"));
            let is_near = colour.rgb.iter().zip(rgb).all(|(a, b): (&f64, f64)| (a - b).abs() < 2.0);
            assert!(is_near && (colour.alpha - alpha).abs() < 1e-9, "{text}: {colour:?}");
        }
        for invalid in
            ["", "none", "transparent", "device-cmyk(0 0 0 1)", "rgb(1, 2)", "color(srgb 1)", "oklch(a b c)"]
        {
            assert_eq!(Colour::parse(invalid), None, "{invalid}");
        }
    }

    #[test]
    fn the_colours_of_a_gradient_are_found() {
        let gradient = "linear-gradient(90deg, rgba(0, 0, 0, 0) 0%, oklch(0 0 0 / 0) 50%, rgb(1, 2, 3))";
        assert_eq!(
            colours_in(gradient).iter().map(Colour::is_transparent).collect::<Vec<_>>(),
            [true, true, false]
        );
        assert_eq!(colours_in("url(\"mask.svg\")"), []);
    }
}
