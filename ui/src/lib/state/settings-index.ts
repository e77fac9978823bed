/** All settings and their pages: the index of the settings search. Pure. */
import type { SettingsPage } from "$lib/app/navigation.svelte";
import type { WordKey } from "$lib/words/words.svelte";

/** A row, a section or a page of settings. */
export interface SettingsEntry {
  readonly page: SettingsPage;
  /** Its title, as displayed on its page. */
  readonly title: WordKey;
  /** Further words that match. */
  readonly also: readonly WordKey[];
}

const entry = (page: SettingsPage, title: WordKey, ...also: WordKey[]): SettingsEntry => ({ page, title, also });

/** All entries, in the order of the pages. */
export const settingsIndex: readonly SettingsEntry[] = [
  entry(
    "models",
    "settings.page.models",
    "model.provider",
    "model.key",
    "model.address",
    "model.add",
    "model.measure",
    "model.light",
    "model.fallback",
    "header.title",
    "header.hint",
  ),
  entry("models", "settings.network", "settings.proxy_sub"),
  entry("models", "settings.proxy", "settings.proxy_sub", "settings.proxy_address"),
  entry("models", "certificates.title", "certificates.sub"),
  entry("general", "settings.page.general"),
  entry("general", "desktop.title"),
  entry("general", "settings.new_sessions"),
  entry("general", "settings.language"),
  entry("general", "onboarding.again", "onboarding.again.sub", "welcome.title"),
  entry("general", "settings.default_mode", "mode.ask", "mode.ask_risky", "mode.autonomous"),
  entry("general", "settings.default_profile"),
  entry("general", "settings.kept_files", "settings.kept_files.sub", "time.title"),
  entry("general", "settings.search", "settings.search.sub", "settings.search.brave", "settings.search.searxng"),
  entry("behaviour", "settings.page.behaviour"),
  entry("behaviour", "settings.conversation"),
  entry("behaviour", "settings.compact_at"),
  entry("behaviour", "settings.keep_warm", "settings.keep_warm.sub"),
  entry("behaviour", "settings.suggestions", "settings.suggestions.sub"),
  entry("behaviour", "settings.confinement", "settings.confinement.sub"),
  entry("behaviour", "settings.live_turns", "settings.live_turns.sub", "side.tasks"),
  entry("behaviour", "settings.budgets", "settings.budgets.sub"),
  entry("behaviour", "settings.budget.task", "settings.budgets"),
  entry("behaviour", "settings.budget.session", "settings.budgets"),
  entry("behaviour", "settings.budget.day", "settings.budgets"),
  entry("behaviour", "settings.trash", "settings.trash.sub"),
  entry("behaviour", "settings.trash_days", "settings.trash", "settings.trash_days.sub"),
  entry("behaviour", "settings.trash_size", "settings.trash", "settings.trash_size.sub"),
  entry("tasks", "settings.page.tasks", "side.tasks"),
  entry("tasks", "settings.tasks.on", "settings.tasks.on.sub"),
  entry("tasks", "settings.tasks.new", "tasks.missed", "tasks.tell", "settings.tasks.open.sub"),
  entry("rules", "settings.page.rules"),
  entry("rules", "rules.try"),
  entry("rules", "rules.grants"),
  entry("browser", "settings.page.browser"),
  entry("browser", "browser.connection", "browser.attach"),
  entry(
    "browser",
    "browser.which",
    "browser.which.sub",
    "browser.which.automatic.sub",
    "browser.which.folder.sub",
    "browser.which.own",
    "browser.which.off",
  ),
  entry("browser", "browser.how"),
  entry("browser", "browser.never"),
  entry("browser", "browser.doctor", "browser.doctor.sub"),
  entry("browser", "browser.sites"),
  entry("chats", "settings.page.chats", "settings.chats.lead"),
  entry("chats", "settings.chats.telegram", "settings.chats.add", "settings.chats.how", "settings.chats.people"),
  entry("knowledge", "settings.page.knowledge"),
  entry("knowledge", "side.skills", "settings.skills.sub"),
  entry("knowledge", "settings.propose", "settings.propose.sub"),
  entry("knowledge", "settings.other_agents", "settings.other_agents.sub"),
  entry("knowledge", "settings.sub_agents", "settings.sub_agents.sub"),
  entry("knowledge", "settings.remember", "settings.remember.sub", "side.memory", "settings.memory.sub"),
  entry("appearance", "settings.page.appearance"),
  entry("appearance", "settings.theme", "settings.light", "settings.dark"),
  entry("appearance", "settings.text_size", "settings.text_size.sub"),
  entry("appearance", "settings.zoom"),
  entry("appearance", "settings.density", "settings.density.sub"),
  entry("appearance", "settings.list_order", "search.group.time", "search.group.folder"),
  entry("shortcuts", "settings.page.shortcuts", "shortcuts.title", "shortcuts.sub"),
  entry("shortcuts", "keys.new"),
  entry("shortcuts", "keys.search"),
  entry("shortcuts", "keys.activity"),
  entry("shortcuts", "keys.settings"),
  entry("shortcuts", "keys.back"),
  entry("shortcuts", "keys.forward"),
  entry("shortcuts", "keys.sessions"),
  entry("shortcuts", "keys.stop"),
  entry("shortcuts", "keys.time_back"),
  entry("shortcuts", "keys.time"),
  entry("shortcuts", "keys.answer"),
  entry("shortcuts", "keys.recall"),
  entry("shortcuts", "keys.suggestion"),
  entry("shortcuts", "keys.commands"),
  entry("shortcuts", "keys.newline"),
  entry("general", "desktop.closing", "desktop.closing.sub"),
  entry("general", "desktop.quick_ask", "desktop.quick_ask.sub"),
  entry("general", "desktop.autostart", "desktop.autostart.sub"),
  entry("browser", "browser.secrets", "browser.secrets.sub"),
  entry("notifications", "settings.page.notifications", "settings.notifications.lead"),
  entry("notifications", "settings.notifications.question", "settings.notifications.question.sub"),
  entry("notifications", "settings.notifications.finished", "settings.notifications.finished.sub"),
  entry("notifications", "settings.notifications.failed", "settings.notifications.failed.sub"),
  entry("data", "settings.page.data"),
  entry("data", "about.home"),
  entry("data", "data.sizes"),
  entry("data", "data.sessions", "data.sessions.sub", "data.kept"),
  entry("data", "data.copy", "data.copy.sub", "data.back_up"),
  entry("data", "data.restore", "data.restore.sub", "data.restore.title", "data.place"),
  entry("data", "data.move", "data.move.sub", "data.place"),
  entry("data", "data.erase.all", "data.erase", "data.erase.sub"),
  entry("about", "settings.page.about"),
  entry("about", "about.version"),
  entry("about", "about.system"),
  entry("about", "updates.title", "updates.sub", "updates.by_itself", "updates.by_itself.sub"),
  entry("about", "about.licence", "about.licence.sub"),
  entry("about", "about.parts", "about.parts.sub"),
  entry("about", "diagnostics.title", "diagnostics.lead", "diagnostics.sub"),
];

/** The words of a language by key. */
export type Words = Readonly<Record<string, string>>;

/**
 * Returns the entries that contain all words of a query, in any of the languages: matching titles first, then in the
 * order of the pages. Empty for an empty query.
 */
export function findSettings(query: string, languages: readonly Words[]): readonly SettingsEntry[] {
  const wanted = query
    .toLowerCase()
    .split(/\s+/)
    .filter((part) => part !== "");
  if (wanted.length === 0) return [];
  const holds = (text: string): boolean => wanted.every((part) => text.includes(part));
  const text = (keys: readonly WordKey[]): string =>
    languages
      .flatMap((words) => keys.map((key) => words[key] ?? ""))
      .join("\n")
      .toLowerCase();
  const titled = settingsIndex.filter(({ title }) => holds(text([title])));
  const rest = settingsIndex.filter((known) => !titled.includes(known) && holds(text([known.title, ...known.also])));
  return [...titled, ...rest];
}
