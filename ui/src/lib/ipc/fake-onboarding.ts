/**
 * Onboarding data of a replay: skills of other agents, and settings recorded before onboarding existed. `?no-others`
 * finds none.
 */
import { difference } from "$lib/state/lines";
import { NOTHING } from "$lib/state/onboarding";
import { failure } from "./fake-parts";
import type { OfferedSkill, OtherSkills, Settings, SkillImportChoice, SkillImportResult } from "./types";

/** Settings missing from recordings. */
export const LATER: Pick<Settings, "onboarding" | "appearance" | "desktop" | "shortcuts" | "tasks"> = {
  onboarding: NOTHING,
  appearance: { text: "usual", density: "compact", list: "time", zoom: 100 },
  shortcuts: {},
  tasks: { at_their_times: "on", missed: "run_once", tell: "trouble" },
  desktop: {
    closing: "ask",
    notices: { question: "on", finished: "on", failed: "on" },
    quick_ask: null,
    autostart: "off",
    updates: { by_itself: "off", looked: null, told: null },
  },
};

function offered(name: string, description: string, change: Partial<OfferedSkill> = {}): OfferedSkill {
  return {
    name,
    description,
    files: [{ path: "SKILL.md", size: 1_240, kind: "data" }],
    tools: [],
    commands: [],
    warnings: [],
    error: null,
    present: null,
    ...change,
  };
}

/** Returns the content of another agent's folder; `owns` returns whether the person has a skill of a name. */
export function otherSkills(picked: string | null, owns: (name: string) => boolean): OtherSkills[] {
  if (new URLSearchParams(location.search).has("no-others") && picked === null) return [];
  const conflict = owns("release-notes")
    ? difference(
        "/home/mei/.octo/skills/release-notes/SKILL.md",
        "# Release notes\n\nAsk for the tag.\n",
        "# Release notes\n\nAsk for the tag.\nGroup by label.\n",
      )
    : null;
  const folders: OtherSkills[] = [
    {
      agent: "claude",
      folder: "/home/mei/.claude/skills",
      offer: "0".repeat(31) + "1",
      skills: [
        offered("changelog", "Writes the changelog from merged pull requests"),
        offered("pdf-forms", "Fills in forms in PDF files", {
          files: [
            { path: "SKILL.md", size: 3_812, kind: "data" },
            { path: "scripts/fill.py", size: 5_120, kind: "script" },
          ],
          commands: ["python3 scripts/fill.py --list"],
        }),
        offered("release-notes", "Notes for a release, by label", { present: conflict }),
      ],
      problem: null,
    },
    {
      agent: "codex",
      folder: "/home/mei/.codex/skills",
      offer: "0".repeat(31) + "2",
      skills: [
        offered("broken-one", "", { error: failure("skill.install.broken", { name: "broken-one" }) }),
        offered("plan", "Breaks a task into steps before it begins"),
      ],
      problem: null,
    },
  ];
  if (picked !== null) {
    folders.push({ agent: "picked", folder: picked, offer: "0".repeat(31) + "3", skills: [], problem: null });
  }
  return folders;
}

/** Returns the result of importing them. */
export function importSkills(
  choices: readonly SkillImportChoice[],
  owns: (name: string) => boolean,
  add: (name: string) => void,
): SkillImportResult {
  const done: SkillImportResult = { names: [], refused: [] };
  for (const { name, taken } of choices) {
    if (owns(name) && taken === "keep") {
      done.refused.push({ name, error: failure("skill.install.exists", { name }) });
      continue;
    }
    const called = owns(name) && taken === "rename" ? `${name}-2` : name;
    add(called);
    done.names.push(called);
  }
  return done;
}
