import type { ConfOperation, ConfStep } from "../../core/conf-change.ts";
import type { Entry } from "../../core/entry.ts";
import type { Index, MemberId, Term } from "../../core/ids.ts";
import { membershipOf, noMembership } from "../../core/membership.ts";
import type { Message } from "../../core/message.ts";
import type { Limits } from "../../core/options.ts";
import type { SnapshotMeta } from "../../core/snapshot.ts";
import { Stage } from "./stage.ts";

/**
 * A scenario that a person can read. Lines that begin with `>` are commands, and the lines below are the members'
 * actions. The first line is the title. Other lines outside of commands begin with `#`.
 */
export interface Script {
  readonly name: string;
  readonly title: string;
  readonly text: string;
}

/** Runs a script. @returns its text with the actual actions, equal to the text if they match */
export function runScript({ title, text }: Script): string {
  const stage = new Stage();
  const out = [title];
  for (const line of text.split("\n").slice(1)) {
    if (line.startsWith(">")) {
      out.push(line);
      perform(stage, line.slice(1).trim());
      out.push(...stage.lines.splice(0));
    } else if (line === "" || line.startsWith("#")) out.push(line);
  }
  return out.join("\n");
}

type Command = (stage: Stage, words: readonly string[]) => void;

/** Commands by name. Members are numbers. */
const commands: Readonly<Record<string, Command>> = {
  // cluster 1 2 3 learners 4
  cluster: (stage, words) => {
    const at = words.indexOf("learners");
    const voters = members(at === -1 ? words : words.slice(0, at));
    const learners = at === -1 ? [] : members(words.slice(at + 1));
    for (const id of [...voters, ...learners]) stage.join(id, membershipOf(voters, learners));
  },
  // limit uncommittedBytesMax 100
  limit: (stage, [name = "", value]) => stage.limit({ [name]: Number(value) } as Partial<Limits>),
  // join 4: a new member that knows no other
  join: (stage, [id]) => stage.join(member(id), noMembership),
  campaign: (stage, [id]) => stage.campaign(member(id)),
  // elect 1: campaign and settle
  elect: (stage, [id]) => stage.elect(member(id)),
  // tick 1 10
  tick: (stage, [id, times = "1"]) => stage.tick(member(id), Number(times)),
  // time 10: all members tick and settle, ten times
  time: (stage, [times]) => stage.passTime(Number(times)),
  propose: (stage, [id, text = ""]) => stage.propose(member(id), text),
  // change 1 add 4 promote 5 demote 2 remove 3
  change: (stage, [id, ...words]) => stage.change(member(id), confSteps(words)),
  read: (stage, [id]) => stage.read(member(id)),
  transfer: (stage, [id, to]) => stage.transfer(member(id), member(to)),
  stepdown: (stage, [id]) => stage.stepDown(member(id)),
  unreachable: (stage, [id, other]) => stage.unreachable(member(id), member(other)),
  // gone 2 1: 2 sees that all connections with 1 broke
  gone: (stage, [id, other]) => stage.gone(member(id), member(other)),
  // streamed 1 3 arrived|lost
  streamed: (stage, [id, to, how]) => stage.streamed(member(id), member(to), how === "arrived"),
  // deliver · deliver 1 2 · deliver * 2
  deliver: (stage, [from, to]) => stage.deliver(anybody(from), anybody(to)),
  // say vote 2 3 term 1 lastIndex 0 lastTerm 0: a message that was never sent, or long ago
  say: (stage, words) => stage.say(messageOf(words)),
  drop: (stage, [from, to]) => stage.drop(anybody(from), anybody(to)),
  repeat: (stage, [from, to]) => stage.repeat(member(from), member(to)),
  reverse: (stage) => stage.reverse(),
  settle: (stage) => stage.settle(),
  // cut 1 2: both ways; mute 1 2: only messages from 1 to 2
  cut: (stage, [one, ...others]) => {
    for (const other of others) {
      stage.cut(member(one), member(other));
      stage.cut(member(other), member(one));
    }
  },
  mute: (stage, [from, to]) => stage.cut(member(from), member(to)),
  heal: (stage) => stage.heal(),
  hold: (stage, [id]) => stage.holdDisk(member(id)),
  // release 1: all, and from now on; release 1 2: the two oldest
  release: (stage, [id, count]) => stage.releaseDisk(member(id), count === undefined ? undefined : Number(count)),
  // slow 1: its state machine falls behind; quick 1: it has caught up
  slow: (stage, [id]) => stage.slowApply(member(id), true),
  quick: (stage, [id]) => stage.slowApply(member(id), false),
  crash: (stage, [id]) => stage.crash(member(id)),
  // tear 1 2: it crashes, and two entries of the write under way are on disk
  tear: (stage, [id, kept]) => stage.tear(member(id), Number(kept)),
  restart: (stage, [id]) => stage.restart(member(id)),
  compact: (stage, [id, index]) => stage.compact(member(id), Number(index) as Index),
  show: (stage, ids) => members(ids).forEach((id) => stage.show(id)),
};

function perform(stage: Stage, line: string): void {
  const [name = "", ...words] = line.split(/\s+/);
  const command = commands[name];
  if (command === undefined) throw new Error(`no such command: ${line}`);
  command(stage, words);
}

const operations: Readonly<Record<string, ConfOperation>> = {
  add: "addLearner",
  promote: "promote",
  demote: "demote",
  remove: "remove",
};

function confSteps(words: readonly string[]): ConfStep[] {
  const steps: ConfStep[] = [];
  for (let at = 0; at < words.length; at += 2) {
    const operation = operations[words[at] ?? ""];
    if (operation === undefined) throw new Error(`no such change: ${words.join(" ")}`);
    steps.push({ operation, member: member(words[at + 1]) });
  }
  return steps;
}

function messageOf([type, from, to, ...fields]: readonly string[]): Message {
  const message: Record<string, unknown> = { type, from: member(from), to: member(to) };
  for (let at = 0; at < fields.length; at += 2) message[fields[at] ?? ""] = valueOf(fields[at + 1] ?? "");
  return message as unknown as Message;
}

/** Parses a number, yes or no, entries such as `2/1:a,3/1:b`, or a snapshot's position such as `3/2`. */
function valueOf(word: string): unknown {
  if (word === "yes" || word === "no") return word === "yes";
  if (word === "none") return [];
  if (word.includes(":")) return word.split(",").map(entryOf);
  return word.includes("/") ? snapshotOf(word) : Number(word);
}

function snapshotOf(word: string): SnapshotMeta {
  const [index, term] = word.split("/").map(Number);
  return { index: index as Index, term: term as Term, membership: membershipOf([1, 2, 3] as MemberId[]) };
}

function entryOf(word: string): Entry {
  const [place = "", text = ""] = word.split(":");
  const [index, term] = place.split("/").map(Number);
  return { index: index as Index, term: term as Term, kind: "normal", data: new TextEncoder().encode(text) };
}

function members(words: readonly string[]): MemberId[] {
  return words.map(member);
}

function member(word: string | undefined): MemberId {
  const id = Number(word);
  if (!Number.isSafeInteger(id)) throw new Error(`no member: ${word}`);
  return id as MemberId;
}

function anybody(word: string | undefined): MemberId | undefined {
  return word === undefined || word === "*" ? undefined : member(word);
}
