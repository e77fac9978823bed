/** Text for permission rules and for the reasons of questions. */
import { shortPath } from "$lib/format/figures";
import { fileSize } from "$lib/format/size";
import type { AskReason, Rule } from "$lib/ipc/types";
import { sentences, t } from "$lib/words/words.svelte";

/** Describes a rule; `home` is the person's home folder, used to shorten paths. */
export function ruleWords(rule: Rule, home: string): string {
  switch (rule.type) {
    case "command":
      return `${rule.words.join(" ")} …`;
    case "line":
      return rule.line;
    case "write":
      return t("ask.rule.write", { path: shortPath(rule.path, home) });
    case "read":
      return t("ask.rule.read", { path: shortPath(rule.path, home) });
    case "host":
      return t("ask.rule.host", { host: rule.host });
    case "network":
      return t("ask.rule.network", { host: rule.host });
    case "site":
      return t("ask.rule.site", { site: rule.site });
    default:
      return rule satisfies never;
  }
}

/**
 * Whether yes has to be pressed on its button. Nothing brings back what these do, or it becomes instructions or a
 * command of every shell: so an Enter that was meant for something else must not be a yes; a no by key is always safe.
 */
export function requiresClick(reason: AskReason): boolean {
  if (reason.type === "library") return reason.change === "install_skills" || reason.change === "write_persona";
  return ["page", "empties_trash", "instructs", "startup", "runs_later"].includes(reason.type);
}

/** How long a question must have been visible before a key may answer it, in milliseconds. */
export const KEY_DELAY = 700;

/** Explains why permission is asked. */
export function askReasonWords(reason: AskReason): string {
  switch (reason.type) {
    case "mode":
      return t("ask.why.mode");
    case "reads_outside":
      return t("ask.why.reads_outside");
    case "writes_outside":
      return t("ask.why.writes_outside");
    case "secret":
      return t("ask.why.secret");
    case "protected":
      return t("ask.why.protected");
    case "instructs":
      return t("ask.why.instructs");
    case "startup":
      return t("ask.why.startup");
    case "runs_later":
      return t("ask.why.runs_later");
    case "project_rules":
      return t("ask.why.project_rules");
    case "command":
      return reason.part === null ? t("ask.why.command") : t("ask.why.command_part");
    case "unparsed":
      return t("ask.why.unparsed");
    case "redirects":
      return t("ask.why.redirects", { command: reason.command });
    case "private_address":
      return t("ask.why.private_address", { host: reason.host });
    case "network":
      return t(`ask.why.network.${reason.scope}`, { host: reason.host });
    case "risky":
      return t(`ask.risk.${reason.risk}`);
    case "empties_trash":
      return t("ask.why.empties_trash", { size: fileSize(reason.totals.bytes), days: reason.days });
    case "site":
      return t("ask.why.site");
    case "page":
      return sentences(
        ...[reason.risk, ...reason.besides].map((risk) => t(`ask.why.page.${risk}`)),
        ...reason.files.map(({ type, path }) => t(`ask.why.file.${type}`, { path: `\u2068${path}\u2069` })),
        t("ask.page.every"),
      );
    case "library":
      return t(`ask.why.library.${reason.change}`);
    default:
      return reason satisfies never;
  }
}
