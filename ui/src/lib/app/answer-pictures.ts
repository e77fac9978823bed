/** Pictures among a session's files, shown in the answers that name them. */
import { call } from "$lib/ipc";
import type { Conversation } from "./conversation.svelte";

/** How much picture data to keep for a session on screen, in characters of base64. */
const KEPT = 64_000_000;
/** The types shown, whatever the file's extension. */
const SHOWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** A requested picture. */
interface PictureRequest {
  /** Its bytes as a data URL; empty before they are loaded, and for anything that cannot be shown. */
  url: string;
  /**
   * Its decoded elements. An element no longer in the document is reused, so that text rerendered with every streamed
   * piece has the picture at once and in its size.
   */
  readonly images: HTMLImageElement[];
  over: Promise<void>;
}

/** Keyed by conversation, which is created again whenever a session opens: until then nothing is requested twice. */
const pictureRequests = new WeakMap<Conversation, Map<string, PictureRequest>>();

async function read(session: string, path: string, picture: PictureRequest): Promise<void> {
  try {
    const { media, base64 } = await call("sessions", "get_picture", { session, path });
    if (!SHOWN.includes(media)) return;
    const url = `data:${media};base64,${base64}`;
    picture.images.push(await decoded(url));
    picture.url = url;
  } catch {
    // The chip with its name remains.
  }
}

async function decoded(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

/** Drops the oldest pictures above the limit, but never the newest, which is about to be shown. */
export function forgetOldest(pictures: Map<string, { readonly url: string }>, newest: string, limit = KEPT): void {
  let size = [...pictures.values()].reduce((sum, { url }) => sum + url.length, 0);
  for (const [key, { url }] of pictures) {
    if (size <= limit) return;
    if (url === "" || key === newest) continue;
    pictures.delete(key);
    size -= url.length;
  }
}

export class AnswerPictures {
  readonly #session: Conversation;
  /** The answer they are in. A later one may name the same file after a change, which is another picture. */
  readonly #answer: string;
  /** The pictures being loaded. */
  readonly #awaited = new Set<PictureRequest>();

  constructor(session: Conversation, answer: string) {
    this.#session = session;
    this.#answer = answer;
  }

  /** Inserts loaded pictures into the placeholders left by rendering, and requests the others. */
  place(root: HTMLElement): void {
    for (const chip of root.querySelectorAll<HTMLElement>(".chip[data-shown]")) {
      const picture = this.#ask(chip.dataset["file"] ?? "");
      if (picture.url !== "") draw(chip, picture);
      else if (!this.#awaited.has(picture)) {
        this.#awaited.add(picture);
        void picture.over.then(() => {
          if (picture.url !== "") this.place(root);
        });
      }
    }
  }

  #ask(path: string): PictureRequest {
    const pictures = pictureRequests.get(this.#session) ?? new Map<string, PictureRequest>();
    pictureRequests.set(this.#session, pictures);
    const key = `${this.#answer} ${path}`;
    const cached = pictures.get(key);
    if (cached) return cached;
    const picture: PictureRequest = { url: "", images: [], over: Promise.resolve() };
    picture.over = read(this.#session.id, path, picture).then(() => forgetOldest(pictures, key));
    pictures.set(key, picture);
    return picture;
  }
}

function draw(chip: HTMLElement, picture: PictureRequest): void {
  let image = picture.images.find((image) => !image.isConnected);
  if (!image) {
    // The same picture in two positions.
    image = new Image();
    image.src = picture.url;
    picture.images.push(image);
  }
  image.alt = chip.dataset["shown"] ?? "";
  image.draggable = false;
  chip.className = "shown";
  chip.replaceChildren(image);
}
