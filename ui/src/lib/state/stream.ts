/** Streaming text: pieces with byte offsets, joined without gaps or overlaps. */
import type { Delta, StreamKind, StreamingBlock } from "$lib/ipc/types";

/** A streaming block, with the number of UTF-8 bytes received. */
export interface Stream extends StreamingBlock {
  readonly bytes: number;
}

/** How much of a command's live output is kept for display, in UTF-16 units; its end matters most. */
const KEPT_OUTPUT = 200_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Returns the number of UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    // A surrogate pair is two UTF-16 units and four bytes: one extra byte per unit.
    if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) bytes += 1;
    else bytes += 2;
  }
  return bytes;
}

/** Returns the initial state of a stream. */
export function begin(stream: StreamingBlock): Stream {
  return { ...stream, bytes: stream.start + byteLength(stream.text) };
}

/**
 * Returns whether both name the same streaming block: output belongs to a call, everything else to an index in a
 * message.
 */
export function sameStream(a: { message: string; block: number; kind: StreamKind }, b: typeof a): boolean {
  if (a.kind.type === "output" || b.kind.type === "output") {
    return a.kind.type === "output" && b.kind.type === "output" && a.kind.call === b.kind.call;
  }
  return a.message === b.message && a.block === b.block;
}

/** The result of appending a delta. */
export type AppendResult = { type: "grown"; stream: Stream } | { type: "known" } | { type: "gap" };

/** Appends a delta to the text received so far; overlaps are skipped, a gap is reported. */
export function append(before: Stream | undefined, delta: Delta): AppendResult {
  const have = before?.bytes ?? 0;
  if (delta.offset > have) return { type: "gap" };
  let text = delta.text;
  if (delta.offset < have) {
    const bytes = encoder.encode(delta.text);
    if (delta.offset + bytes.length <= have) return { type: "known" };
    text = decoder.decode(bytes.subarray(have - delta.offset));
  }
  const extended: Stream = {
    message: delta.message,
    block: delta.block,
    kind: delta.kind,
    start: before?.start ?? 0,
    text: (before?.text ?? "") + text,
    bytes: have + byteLength(text),
  };
  return { type: "grown", stream: delta.kind.type === "output" ? truncateStream(extended) : extended };
}

/** Drops the first whole lines of long output once it is twice the kept length. */
function truncateStream(stream: Stream): Stream {
  if (stream.text.length <= 2 * KEPT_OUTPUT) return stream;
  const from = stream.text.indexOf("\n", stream.text.length - KEPT_OUTPUT) + 1;
  if (from === 0) return stream;
  const start = stream.start + byteLength(stream.text.slice(0, from));
  return { ...stream, start, text: stream.text.slice(from) };
}
