/** The protocol's types; a Rust test writes the file below. */
export type * from "./generated/protocol";
