/** The Chinese words as a separate chunk, loaded only when needed. */
import errors from "@words/zh/errors.json";
import ui from "@words/zh/ui.json";

const words: Record<string, string> = { ...errors, ...ui };
export default words;
