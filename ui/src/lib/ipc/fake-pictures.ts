/** The pictures among the files of a replay's sessions: one drawing under every existing name. */
import { failure } from "./fake-parts";
import type { SessionPicture } from "./types";

/** A green chequerboard of 1200 by 900. */
const DRAWING =
  "iVBORw0KGgoAAAANSUhEUgAABLAAAAOEAQMAAACLo1q5AAAABlBMVEUva0bc6eCoJSkYAAACOklEQVR42u3QAQkAMAzAsPk3/ZvYD4VUQeicvWYx" +
  "LCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsLCwsrPcZj4WFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWF" +
  "hYWFhYWFhYWFhYWFhYWFhYWFhYWF9YHlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVotlPBYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVovlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWVotlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVovlPBYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVotlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWVovlPBYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVotlPBYWFhYWFhYWFhYWFhYWFhYW" +
  "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWVop1AVDXs69g068YAAAAAElFTkSuQmCC";

/** Returns the picture at `path`. */
export function pictureOf(path: string): SessionPicture {
  if (path.includes("gone")) throw failure("picture.missing");
  if (path.includes("large")) throw failure("picture.too_large");
  // A file may have a picture's name without being one.
  if (path.includes("broken")) return { media: "image/png", base64: "bm8gcGljdHVyZQ==" };
  return { media: "image/png", base64: DRAWING };
}
