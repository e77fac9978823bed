/** What the palette can do: commands, and the places one can go to. */
import type { IconName } from "$lib/icons";
import { type WordKey, inEnglish, t } from "$lib/words/words.svelte";
import { library } from "./library.svelte";
import { navigation } from "./navigation.svelte";
import { overlay } from "./overlay.svelte";
import { preferences } from "./preferences.svelte";
import { settingsPages } from "./settings-pages";
import type { ShortcutId } from "./shortcuts";

/** Something that can be done. */
export interface Action {
  readonly id: string;
  readonly label: string;
  /** The same in English: who reads another language may still type it. */
  readonly also: string;
  readonly icon: IconName;
  readonly shortcut?: ShortcutId;
  readonly run: () => void;
}

type Rest = Omit<Action, "label" | "also">;

/** An action whose words are those of the keys, from the general to the particular. */
function action(words: WordKey | readonly [WordKey, WordKey], rest: Rest): Action {
  const keys = typeof words === "string" ? [words] : words;
  return { ...rest, label: keys.map((key) => t(key)).join(": "), also: keys.map(inEnglish).join(": ") };
}

/** Where one can go to. */
export function places(): readonly Action[] {
  return [
    action("side.tasks", { id: "tasks", icon: "calendar", run: () => navigation.tasks() }),
    action("side.skills", { id: "skills", icon: "skills", run: () => navigation.skills() }),
    action("side.memory", { id: "memory", icon: "memory", run: () => navigation.memory() }),
    action("side.trash", { id: "trash", icon: "trash", run: () => navigation.trash() }),
    action("side.usage", { id: "usage", icon: "chart", run: () => navigation.usage() }),
    action("side.settings", {
      id: "settings",
      icon: "settings",
      shortcut: "settings",
      run: () => navigation.settings(),
    }),
    ...settingsPages.map(({ id, icon }) =>
      action(["side.settings", `settings.page.${id}`], {
        id: `settings-${id}`,
        icon,
        run: () => navigation.settings(id),
      }),
    ),
  ];
}
