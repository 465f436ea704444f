/** Lines around a change. */
const contextLines = 3;
/** In texts of at least this many lines, a line that makes up more than a hundredth of the text does not anchor a match. */
const longText = 200;
/** Limit of the comparisons, after which the rest counts as replaced. Hostile texts would take seconds otherwise. */
const stepsMax = 300_000;

/** Lines that both texts have: `size` of them, from `a` in the old text and `b` in the new one. */
interface Block {
  readonly a: number;
  readonly b: number;
  readonly size: number;
}

/** A range of lines of each text, and whether they are equal. */
interface Change {
  readonly kind: "equal" | "replaced";
  readonly a: Range;
  readonly b: Range;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the difference of two texts as a unified diff without file names. Picks the same equal blocks as Go's and
 * Python's difflib, the longest first, because upstream's messages contain such diffs.
 */
export function unifiedDiff(old: string, fresh: string): string {
  const [a, b] = [old.split("\n"), fresh.split("\n")];
  return hunks(changes(matchingBlocks(a, b), a.length, b.length))
    .map((hunk) => hunkText(hunk, a, b))
    .join("");
}

function matchingBlocks(a: readonly string[], b: readonly string[]): Block[] {
  const places = anchors(b);
  const budget = { steps: stepsMax };
  const blocks: Block[] = [];
  const open: { a: Range; b: Range }[] = [{ a: { from: 0, to: a.length }, b: { from: 0, to: b.length } }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const match = longestMatch(a, b, next, places, budget);
    if (match.size === 0) continue;
    blocks.push(match);
    const { a: inA, b: inB } = next;
    open.push(
      { a: { from: inA.from, to: match.a }, b: { from: inB.from, to: match.b } },
      { a: { from: match.a + match.size, to: inA.to }, b: { from: match.b + match.size, to: inB.to } },
    );
  }
  return blocks.sort((one, other) => one.a - other.a);
}

/** Returns the positions of each line at which matches may start. */
function anchors(b: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  for (const [at, line] of b.entries()) {
    const known = places.get(line);
    if (known === undefined) places.set(line, [at]);
    else known.push(at);
  }
  if (b.length < longText) return places;
  const many = Math.floor(b.length / 100) + 1;
  for (const [line, all] of places) if (all.length > many) places.delete(line);
  return places;
}

function longestMatch(
  a: readonly string[],
  b: readonly string[],
  { a: inA, b: inB }: { readonly a: Range; readonly b: Range },
  places: ReadonlyMap<string, readonly number[]>,
  budget: { steps: number },
): Block {
  let best: Block = { a: inA.from, b: inB.from, size: 0 };
  let lengths = new Map<number, number>();
  for (let at = inA.from; at < inA.to && budget.steps > 0; at++) {
    budget.steps--;
    const longer = new Map<number, number>();
    for (const place of places.get(a[at] as string) ?? []) {
      budget.steps--;
      if (place < inB.from) continue;
      if (place >= inB.to) break;
      const size = (lengths.get(place - 1) ?? 0) + 1;
      longer.set(place, size);
      if (size > best.size) best = { a: at - size + 1, b: place - size + 1, size };
    }
    lengths = longer;
  }
  let { a: fromA, b: fromB, size } = best;
  while (fromA > inA.from && fromB > inB.from && a[fromA - 1] === b[fromB - 1]) {
    fromA--;
    fromB--;
    size++;
  }
  while (fromA + size < inA.to && fromB + size < inB.to && a[fromA + size] === b[fromB + size]) size++;
  return { a: fromA, b: fromB, size };
}

function changes(blocks: readonly Block[], lengthA: number, lengthB: number): Change[] {
  const found: Change[] = [];
  let [atA, atB] = [0, 0];
  for (const { a, b, size } of [...blocks, { a: lengthA, b: lengthB, size: 0 }]) {
    if (atA < a || atB < b) found.push({ kind: "replaced", a: { from: atA, to: a }, b: { from: atB, to: b } });
    [atA, atB] = [a + size, b + size];
    const last = found.at(-1);
    // Adjacent blocks are one.
    if (size > 0 && last?.kind === "equal") {
      found[found.length - 1] = { kind: "equal", a: { ...last.a, to: atA }, b: { ...last.b, to: atB } };
    } else if (size > 0) {
      found.push({ kind: "equal", a: { from: a, to: atA }, b: { from: b, to: atB } });
    }
  }
  return found;
}

/** Groups nearby changes, with a few equal lines around them. */
function hunks(all: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  let group: Change[] = [];
  for (const [at, change] of all.entries()) {
    if (change.kind === "replaced") {
      group.push(change);
      continue;
    }
    const size = change.a.to - change.a.from;
    const [isFirst, isLast] = [at === 0, at === all.length - 1];
    if (!isFirst && !isLast && size <= 2 * contextLines) {
      group.push(change);
      continue;
    }
    if (!isFirst) {
      group.push(part(change, 0, Math.min(size, contextLines)));
      groups.push(group);
    }
    group = isLast ? [] : [part(change, Math.max(0, size - contextLines), size)];
  }
  if (group.length > 0) groups.push(group);
  return groups.filter((found) => found.some(({ kind }) => kind === "replaced"));
}

function part({ kind, a, b }: Change, from: number, to: number): Change {
  return { kind, a: { from: a.from + from, to: a.from + to }, b: { from: b.from + from, to: b.from + to } };
}

function hunkText(hunk: readonly Change[], a: readonly string[], b: readonly string[]): string {
  const [first, last] = [hunk[0] as Change, hunk.at(-1) as Change];
  const ranges = `-${rangeText(first.a.from, last.a.to)} +${rangeText(first.b.from, last.b.to)}`;
  const lines = hunk.flatMap((change) =>
    change.kind === "equal"
      ? linesText(" ", a, change.a)
      : [...linesText("-", a, change.a), ...linesText("+", b, change.b)],
  );
  return `@@ ${ranges} @@\n${lines.join("")}`;
}

function rangeText(from: number, to: number): string {
  const size = to - from;
  if (size === 1) return String(from + 1);
  return `${size === 0 ? from : from + 1},${size}`;
}

function linesText(mark: string, lines: readonly string[], { from, to }: Range): string[] {
  return lines.slice(from, to).map((line) => `${mark}${line}\n`);
}
