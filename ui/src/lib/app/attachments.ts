/** Pictures, documents and files to be attached to a message. */
import { call, host } from "$lib/ipc";
import type { Block } from "$lib/ipc/types";
import { explain, t } from "$lib/words/words.svelte";
import { platform } from "./platform";
import { toasts } from "./toasts.svelte";

/** An attachment: exactly the block that is sent. */
export type Attachment = Extract<Block, { type: "image" | "document" | "file" }>;

/** Returns whether a block can be attached. */
export function isAttachment(block: Block): block is Attachment {
  return block.type === "image" || block.type === "document" || block.type === "file";
}

/** The largest picture the core stores, in bytes (see `PutBlob`). */
const LARGEST = 20 * 1024 * 1024;
const LIMIT = "20 MiB";
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** Stores pictures without a path: pasted, or dropped from another application. Shows the name of each that fails. */
export async function keepPictures(files: readonly File[]): Promise<Attachment[]> {
  const stored: Attachment[] = [];
  for (const file of files) {
    const name = file.name || t("attach.pasted");
    if (!PICTURES.includes(file.type)) {
      toasts.show(t("attach.unsupported", { name, limit: LIMIT }));
    } else if (file.size > LARGEST) {
      toasts.show(t("attach.too_large", { name, limit: LIMIT }));
    } else {
      try {
        stored.push(await keep(await base64(file), name));
      } catch (error) {
        toasts.fail(error);
      }
    }
  }
  return stored;
}

/**
 * Returns whether only the system can provide the pasted content: on Linux a web view gives its page neither pictures
 * nor files, and no text where files may be present.
 */
export function isKept(pasted: DataTransfer): boolean {
  if (platform !== "linux") return false;
  const files = [...pasted.files];
  return files.length === 0 ? pasted.getData("text/plain") === "" : files.some(({ type }) => !PICTURES.includes(type));
}

/** Returns the pasted content the page was not given. */
export async function readPasted(): Promise<{ attachments: Attachment[]; text: string }> {
  try {
    const reply = await host({ type: "read_pasted" });
    if (reply.type !== "pasted") return { attachments: [], text: "" };
    const picture = reply.picture === null ? [] : [await keep(reply.picture, t("attach.pasted"))];
    return { attachments: [...picture, ...(await attachPaths(reply.paths))], text: reply.text ?? "" };
  } catch (error) {
    toasts.fail(error);
    return { attachments: [], text: "" };
  }
}

async function keep(base64: string, name: string): Promise<Attachment> {
  const { blob, media_type, name: storedName } = await call("app", "put_blob", { base64, name });
  return { type: "image", blob, media_type, name: storedName };
}

/**
 * Attaches files by path: pictures and documents as such, all others by name. Reports each that fails, with the reason.
 */
export async function attachPaths(paths: readonly string[]): Promise<Attachment[]> {
  if (paths.length === 0) return [];
  try {
    const { blocks, refused, remarks } = await call("app", "attach_files", { paths: [...paths] });
    for (const error of refused) toasts.fail(error);
    for (const remark of remarks) toasts.show(explain(remark));
    return blocks.filter(isAttachment);
  } catch (error) {
    toasts.fail(error);
    return [];
  }
}

/** Opens a file picker, starting in `folder`, and attaches the files. */
export async function pickFiles(folder: string): Promise<Attachment[]> {
  try {
    const reply = await host({ type: "pick_files", start: folder === "" ? null : folder });
    return await attachPaths(reply.type === "files" ? reply.paths : []);
  } catch (error) {
    toasts.fail(error);
    return [];
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^data:[^,]*,/, ""));
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
}

/** Returns the blocks of a message. */
export function blocksOf(text: string, attachments: readonly Attachment[]): Block[] {
  const words: Block[] = text.trim() === "" ? [] : [{ type: "text", text }];
  return [...words, ...attachments];
}
