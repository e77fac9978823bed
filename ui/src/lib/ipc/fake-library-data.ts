/** The initial library of a replay. */
import { difference } from "$lib/state/lines";
import { failure } from "./fake-parts";
import type { MemoryCard, MemorySheet, SkillCard, SkillFile, SkillOffer, SkillOrigin, SkillSuggestion } from "./types";

const HOUR = 3_600_000;
export const HOME = "/home/mei/.octo";
const PROJECT = "/home/mei/code/harbor";

export interface StoredSkill {
  card: SkillCard;
  text: string;
  files: readonly SkillFile[];
  tools: readonly string[];
  license: string | null;
  compatibility: string | null;
  /** Earlier texts, oldest first, with the time they were replaced. */
  versions: { text: string; at: number }[];
}

function folderOf(name: string, origin: SkillOrigin): string {
  switch (origin) {
    case "bundled":
      return `/usr/lib/octo/skills/${name}`;
    case "user":
      return `${HOME}/skills/${name}`;
    case "user_claude":
      return `/home/mei/.claude/skills/${name}`;
    case "user_agents":
      return `/home/mei/.agents/skills/${name}`;
    case "project":
      return `${PROJECT}/.octo/skills/${name}`;
    case "project_claude":
      return `${PROJECT}/.claude/skills/${name}`;
    case "project_agents":
      return `${PROJECT}/.agents/skills/${name}`;
  }
}

export function storedSkill(
  name: string,
  origin: SkillOrigin,
  description: string,
  change: Partial<SkillCard> = {},
  rest: Partial<Omit<StoredSkill, "card">> = {},
): StoredSkill {
  const project = origin.startsWith("project") ? PROJECT : null;
  const card: SkillCard = {
    skill: { name, origin, project },
    description,
    description_zh: null,
    argument: "",
    folder: folderOf(name, origin),
    way: "inline",
    caller: "anyone",
    trust: "trusted",
    on: "on",
    automatic: "on",
    warnings: [],
    error: null,
    shadows: null,
    used_at: null,
    versions: rest.versions?.length ?? 0,
    ...change,
  };
  const text = `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n1. Look at what there is.\n2. Do it.\n3. Say what was done.\n`;
  return { card, text, files: [], tools: [], license: null, compatibility: null, versions: [], ...rest };
}

const NOTES = (steps: string): string =>
  `---\nname: release-notes\ndescription: Notes for a release from merged pull requests\nargument-hint: tag\n---\n\n# Release notes\n\n1. Ask for the last tag if none is given.\n2. List merged pull requests since the tag.\n${steps}`;
const GROUPED = "3. Group them by label.\n4. One line each, in the reader's words.\n";
const DROPPED =
  "3. Drop pairs where one reverts the other:\n   the title starts with “Revert”, or the\n   body names the commit.\n4. Group the rest by label. If a label is\n   missing, ask once for all of them.\n5. One line each, in the reader's words.\n";

export function skills(): StoredSkill[] {
  const now = Date.now();
  return [
    storedSkill(
      "review-rust",
      "project",
      "House rules for reviews in this repository",
      { used_at: now - 50 * HOUR, automatic: "off" },
      { files: [{ path: "references/errors.md", size: 4200, kind: "data" }] },
    ),
    storedSkill(
      "deploy-preview",
      "project",
      "Builds a preview and puts it on the staging server",
      { trust: "unseen", automatic: "off", on: "off" },
      {
        files: [
          { path: "scripts/build.sh", size: 812, kind: "script" },
          { path: "scripts/push.sh", size: 2300, kind: "script" },
          { path: "README.md", size: 640, kind: "data" },
        ],
        tools: ["terminal", "browser"],
      },
    ),
    storedSkill("lint-notes", "project_claude", "What the linters of this repository mean", { trust: "changed" }),
    storedSkill(
      "release-notes",
      "user",
      "Notes for a release from merged pull requests",
      {
        description_zh: "从已合并的拉取请求写发布说明",
        argument: "tag",
        used_at: now - 26 * HOUR,
      },
      {
        text: NOTES(GROUPED),
        versions: [{ text: NOTES("3. Sort them by date.\n"), at: now - 300 * HOUR }],
        tools: ["terminal", "file_reader", "write"],
        license: "MIT",
        compatibility: "Needs git and the GitHub command line.",
        files: [
          { path: "scripts/merged.py", size: 3100, kind: "script" },
          { path: "assets/template.md", size: 900, kind: "data" },
        ],
      },
    ),
    storedSkill("expense-report", "user", "Receipts and card statements into one sheet", {
      used_at: now - 70 * HOUR,
      shadows: "bundled",
    }),
    storedSkill("translate-ui", "user", "", {
      error: failure("certificates.unreadable", { path: `${HOME}/skills/translate-ui/SKILL.md` }),
      automatic: "off",
      on: "off",
    }),
    storedSkill("pdf-forms", "user_claude", "Fill and flatten PDF forms", { used_at: now - 290 * HOUR }),
    storedSkill("code-explorer", "bundled", "Reads a code base in a sub-agent and reports", {
      description_zh: "在子智能体中阅读代码库并汇报",
      way: "fork",
      used_at: now - HOUR,
      argument: "question",
    }),
    storedSkill("personal-website", "bundled", "A small site from your notes, kept on this machine", {
      on: "off",
      automatic: "off",
    }),
    storedSkill("recall-memory", "bundled", "Looks up what earlier sessions wrote down", {
      way: "fork",
      caller: "agent",
      used_at: now - 2 * HOUR,
    }),
    storedSkill("skill-creator", "bundled", "Writes a skill with you and tests it", {
      caller: "person",
      used_at: now - 600 * HOUR,
      argument: "what it should do",
    }),
  ];
}

export function suggestions(): SkillSuggestion[] {
  const now = Date.now();
  const shared = { session: null, turn: null };
  const newSkill =
    "---\nname: rename-by-date\ndescription: Renames photos by the date they were taken\n---\n\n1. Read the date of each photo.\n2. Show the new names and ask.\n3. Rename.\n";
  return [
    {
      ...shared,
      id: "suggestion-1",
      name: "release-notes",
      kind: "better",
      reason:
        "While writing the 0.9 notes you removed three entries by hand. They were pull requests that a later one reverts. This change leaves such pairs out.",
      title: "Harbor: release 0.9 plan",
      cost_nanos: 21_000_000,
      at: now - 2 * HOUR,
      text: NOTES(DROPPED),
      diff: difference(`${HOME}/skills/release-notes/SKILL.md`, NOTES(GROUPED), NOTES(DROPPED)),
    },
    {
      ...shared,
      id: "suggestion-2",
      name: "rename-by-date",
      kind: "new",
      reason: "The photo task could be repeated as it is.",
      title: "Rename photos by the date taken",
      cost_nanos: null,
      at: now - 50 * HOUR,
      text: newSkill,
      diff: difference(`${HOME}/skills/rename-by-date/SKILL.md`, "", newSkill),
    },
  ];
}

export function offer(from: string): SkillOffer {
  const base = { tools: [], commands: [], warnings: [], error: null, present: null };
  return {
    id: "offer-1",
    from,
    skills: [
      {
        ...base,
        name: "changelog",
        description: "Keeps a changelog the way keepachangelog.com asks for",
        files: [{ path: "SKILL.md", size: 2100, kind: "data" }],
      },
      {
        ...base,
        name: "release-notes",
        description: "Release notes from commits",
        files: [
          { path: "SKILL.md", size: 1400, kind: "data" },
          { path: "scripts/collect.sh", size: 900, kind: "script" },
        ],
        tools: ["terminal", "write"],
        commands: ["git log --oneline -20"],
        present: difference(`${HOME}/skills/release-notes/SKILL.md`, NOTES(GROUPED), NOTES("3. List every commit.\n")),
      },
      {
        ...base,
        name: "escape",
        description: "",
        files: [],
        error: failure("attach.missing", { path: "../escape" }),
      },
    ],
  };
}

export const memory = (
  file: string,
  topic: string,
  description: string,
  body: string,
  age: number,
  title: string | null,
): MemorySheet => {
  const card: MemoryCard = {
    file,
    topic,
    description,
    at: Date.now() - age * HOUR,
    size: body.length + 60,
    session: null,
    title,
    preview: body.slice(0, 200),
  };
  return { card, body, version: "1", path: `${HOME}/memories/${file}` };
};
