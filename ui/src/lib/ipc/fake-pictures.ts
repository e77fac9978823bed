/** The pictures among the files of a replay's sessions: one drawing under every name, for those that are there. */
import { failure } from "./fake-parts";
import type { SessionPicture } from "./types";

/** A green chequer of 1200 by 900. */
const DRAWING =
  "iVBORw0KGgoAAAANSUhEUgAABLAAAAOEAQMAAACLo1q5AAAABlBMVEUva0bc6eCoJSkYAAACOklEQVR42u3QAQkAMAzAsPk3/ZvYD4VUQeicvWYx" +
  "LCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsrPcZj4WFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWF" +
  "hYWFhYWFhYWFhYWFhYWFhYWFhYWF9YHlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVotlPBYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVovlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWVotlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVovlPBYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVotlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWVovlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVotlPBYWFhYWFhYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVop1AVDXs69g068YAAAAAElFTkSuQmCC";

/** What `path` is a picture of. */
export function pictureOf(path: string): SessionPicture {
  if (path.includes("gone")) throw failure("picture.missing");
  if (path.includes("large")) throw failure("picture.too_large");
  // A file may have the name of a picture and be none.
  if (path.includes("broken")) return { media: "image/png", base64: "bm8gcGljdHVyZQ==" };
  return { media: "image/png", base64: DRAWING };
}
