/** SGR colours of a command's output as spans. Other escapes were removed earlier; any left are dropped. */

/** A run of text with one style: class names of the terminal styles. */
export interface Span {
  readonly text: string;
  readonly classes: string;
}

interface TextStyle {
  colour: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
}

const plain: TextStyle = { colour: "", bold: false, dim: false, italic: false, underline: false };
const names = ["d", "r", "g", "y", "b", "m", "c", ""];
// eslint-disable-next-line no-control-regex -- the escape character is what is looked for
const escape = /\u001b(?:\[([0-9;:]*)([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

/** Splits text at its SGR escapes. */
export function spans(text: string): readonly Span[] {
  const out: Span[] = [];
  let style = plain;
  let from = 0;
  const emit = (part: string): void => {
    if (part === "") return;
    const classes = classesOf(style);
    const last = out.at(-1);
    if (last && last.classes === classes) out[out.length - 1] = { text: last.text + part, classes };
    else out.push({ text: part, classes });
  };
  for (const match of text.matchAll(escape)) {
    emit(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") style = change(style, match[1] ?? "");
  }
  emit(text.slice(from));
  return out;
}

function change(before: TextStyle, parameters: string): TextStyle {
  const style = { ...before };
  const codes = parameters.split(";").map((code) => Number.parseInt(code || "0", 10));
  for (let i = 0; i < codes.length; i += 1) {
    const code = codes[i] ?? 0;
    if (code === 0) Object.assign(style, plain);
    else if (code === 1) style.bold = true;
    else if (code === 2) style.dim = true;
    else if (code === 3) style.italic = true;
    else if (code === 4) style.underline = true;
    else if (code === 22) style.bold = style.dim = false;
    else if (code === 23) style.italic = false;
    else if (code === 24) style.underline = false;
    else if (code >= 30 && code <= 37) style.colour = names[code - 30] ?? "";
    else if (code === 39) style.colour = "";
    else if (code >= 90 && code <= 97) style.colour = names[code - 90] ?? "";
    else if (code === 38 || code === 48) {
      // 256-colour and true colour: the first sixteen of the palette are the named ones; the rest stay
      // uncoloured because their contrast on our backgrounds is unknown.
      const palette = codes[i + 1] === 5;
      const index = codes[i + 2] ?? 0;
      if (code === 38) style.colour = palette && index < 16 ? (names[index % 8] ?? "") : "";
      i += palette ? 2 : 4;
    }
  }
  return style;
}

function classesOf(style: TextStyle): string {
  const classes: string[] = [];
  if (style.colour) classes.push(`a-${style.colour}`);
  if (style.dim) classes.push("a-d");
  if (style.bold) classes.push("a-bold");
  if (style.italic) classes.push("a-italic");
  if (style.underline) classes.push("a-underline");
  return classes.join(" ");
}
