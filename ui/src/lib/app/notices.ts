/** The libraries Octo is built from and their licences. The build writes the lists next to the page. */

/** A library that is part of Octo. */
export interface Part {
  readonly name: string;
  readonly version: string;
  /** The licence's SPDX identifier; null if the library names none. */
  readonly licence: string | null;
  /** The texts of its licences; empty if it has none. */
  readonly texts: readonly string[];
}

/** The known parts, and whether a list was missing: a page may be built without the application. */
export interface Notices {
  readonly parts: readonly Part[];
  readonly full: boolean;
}

interface Crates {
  readonly parts: readonly { name: string; version: string; licence: string | null; texts: readonly number[] }[];
  readonly texts: readonly string[];
}

/** The list as the page's bundler writes it. */
type Packages = readonly { name: string; version: string; identifier: string | null; text?: string | null }[];

async function read<T>(name: string): Promise<T | null> {
  try {
    const answer = await fetch(new URL(`notices/${name}.json`, document.baseURI));
    // Some servers answer a missing file with an HTML page.
    return answer.ok ? ((await answer.json()) as T) : null;
  } catch {
    return null;
  }
}

/** Reads the lists. */
export async function readNotices(): Promise<Notices> {
  const [crates, packages] = await Promise.all([read<Crates>("crates"), read<Packages>("page")]);
  const parts: Part[] = [
    ...(crates?.parts ?? []).map((part) => ({
      ...part,
      texts: part.texts.flatMap((index) => crates?.texts[index] ?? []),
    })),
    ...(packages ?? []).map(({ name, version, identifier, text }) => ({
      name,
      version,
      licence: identifier,
      texts: text ? [text] : [],
    })),
  ];
  parts.sort((a, b) => a.name.localeCompare(b.name, "en") || a.version.localeCompare(b.version, "en"));
  return { parts, full: crates !== null && packages !== null };
}
