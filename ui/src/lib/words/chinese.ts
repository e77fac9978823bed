/** The Chinese words, by themselves: whoever reads English does without them. */
import errors from "@words/zh/errors.json";
import ui from "@words/zh/ui.json";

const words: Record<string, string> = { ...errors, ...ui };
export default words;
