/** Pictures among a session's files, shown in the answers that name them. */
import { call } from "$lib/ipc";
import type { Conversation } from "./conversation.svelte";

/** So much is kept of a session's pictures while it is on screen, in characters of base64. */
const KEPT = 64_000_000;
/** The kinds that are shown, whatever the file's name says. */
const SHOWN = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** A picture that was asked for. */
interface Asked {
  /** Its bytes as an address; empty before they are there, and where there is nothing to show. */
  url: string;
  /**
   * Its elements, decoded. One that is no longer in the document is used again, so that a text which is drawn anew with
   * every piece that streams in has it at once, and in its size.
   */
  readonly images: HTMLImageElement[];
  over: Promise<void>;
}

/** Per conversation, which is a new one whenever a session is opened: until then nothing is asked twice. */
const asked = new WeakMap<Conversation, Map<string, Asked>>();

async function read(session: string, path: string, picture: Asked): Promise<void> {
  try {
    const { media, base64 } = await call("sessions", "get_picture", { session, path });
    if (!SHOWN.includes(media)) return;
    const url = `data:${media};base64,${base64}`;
    picture.images.push(await decoded(url));
    picture.url = url;
  } catch {
    // It stays a chip with its name.
  }
}

async function decoded(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

/** Forgets the oldest where more is kept than may be, never the newest: whoever asked for it is about to show it. */
export function forgetOldest(pictures: Map<string, { readonly url: string }>, newest: string, most = KEPT): void {
  let size = [...pictures.values()].reduce((sum, { url }) => sum + url.length, 0);
  for (const [key, { url }] of pictures) {
    if (size <= most) return;
    if (url === "" || key === newest) continue;
    pictures.delete(key);
    size -= url.length;
  }
}

export class AnswerPictures {
  readonly #here: Conversation;
  /** The answer they are in. A later one may name the same file after it was changed: that is another picture. */
  readonly #answer: string;
  /** What is waited for. */
  readonly #awaited = new Set<Asked>();

  constructor(here: Conversation, answer: string) {
    this.#here = here;
    this.#answer = answer;
  }

  /** Puts the pictures that were read into the places rendering left for them, and asks for the others. */
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

  #ask(path: string): Asked {
    const pictures = asked.get(this.#here) ?? new Map<string, Asked>();
    asked.set(this.#here, pictures);
    const key = `${this.#answer} ${path}`;
    const known = pictures.get(key);
    if (known) return known;
    const picture: Asked = { url: "", images: [], over: Promise.resolve() };
    picture.over = read(this.#here.id, path, picture).then(() => forgetOldest(pictures, key));
    pictures.set(key, picture);
    return picture;
  }
}

function draw(chip: HTMLElement, picture: Asked): void {
  let image = picture.images.find((known) => !known.isConnected);
  if (!image) {
    // The same one in two places.
    image = new Image();
    image.src = picture.url;
    picture.images.push(image);
  }
  image.alt = chip.dataset["shown"] ?? "";
  image.draggable = false;
  chip.className = "shown";
  chip.replaceChildren(image);
}
