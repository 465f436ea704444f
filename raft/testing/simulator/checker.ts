import type { Entry } from "../../core/entry.ts";
import type { Index, MemberId, Term } from "../../core/ids.ts";
import { noMember } from "../../core/ids.ts";
import type { LogView } from "../../core/log.ts";
import type { Membership } from "../../core/membership.ts";
import { membersOf } from "../../core/membership.ts";
import type { Message, PreVote } from "../../core/message.ts";
import type { Ready } from "../../core/ready.ts";
import { DecidedMemberships } from "./decided-memberships.ts";
import type { Checkpoint } from "./disk-image.ts";
import type { Machine } from "./machine.ts";
import { electionTicks } from "./profile.ts";
import type { Command } from "./register-machine.ts";
import type { Judge, Process, SimMember } from "./sim-member.ts";
import { must } from "./violation.ts";

/** The observed facts about one member, kept across its restarts. */
interface Watched {
  readonly member: SimMember;
  /** The latest term that it sent, and its vote in each term. */
  term: Term;
  readonly votes: Map<Term, MemberId>;
  /** Commit index of this process. */
  commit: Index;
  /** Its reign as leader: its term, its last entry, and its ticks since the last message from each member. */
  leads: Reign | undefined;
  before: { readonly term: Term; readonly role: string } | undefined;
  /** Requests by members with an older log since the leader's last message. */
  askedInVain: number;
}

interface Reign {
  readonly term: Term;
  lastIndex: Index;
  /** Last entry that it wrote. */
  writtenTo: Index;
  membershipIndex: Index;
  ticks: number;
  transferTicks: number;
  readonly heardAt: Map<MemberId, number>;
  readonly matched: Map<MemberId, Index>;
}

interface Decided {
  readonly term: Term;
  /** Hash of the state after the entry was first applied; `undefined` until then. */
  hash: number | undefined;
}

/**
 * Checks the rules of the thesis (figure 3.2 and §3.6–§6.4) against reality: the messages and actions of members, and
 * the actual contents of their disks. Each check only looks at the latest change.
 */
export class Checker implements Judge {
  readonly #watched = new Map<MemberId, Watched>();
  readonly #leaders = new Map<Term, MemberId>();
  /** Decided entries by index. A decision never changes. */
  readonly #decided: (Decided | undefined)[] = [];
  /** Index up to which each term's leader committed, ascending. */
  readonly #decisions: { readonly inTerm: Term; upTo: Index }[] = [];
  readonly #memberships = new DecidedMemberships();
  readonly #effects = new Map<number, Index>();
  #lastDecided = 0;
  snapshotsInstalled = 0;
  membershipChanges = 0;

  get decidedCount(): number {
    return this.#lastDecided;
  }

  get termsLed(): number {
    return this.#leaders.size;
  }

  started(member: SimMember): void {
    const watched = this.#watch(member);
    const { node } = this.#process(member);
    const { term } = node.softState;
    must(term >= watched.term, () => `member ${member.id} spoke in term ${watched.term} and restarts in ${term}`);
    watched.commit = 0 as Index;
    watched.leads = undefined;
    watched.askedInVain = 0;
    this.settled(member, this.#process(member));
  }

  stopped(member: SimMember): void {
    this.#watch(member).leads = undefined;
  }

  /** Checks that a crash cannot make a sent message untrue. */
  sends({ id, disk }: SimMember, message: Message): void {
    const watched = this.#watched.get(id) as Watched;
    if (message.type === "preVote" || message.type === "preVoteReply") return;
    const { hardState } = disk;
    must(message.term <= hardState.term, () => `member ${id} speaks in term ${message.term}, which it could forget`);
    must(message.term >= watched.term || isOld(message), () => `member ${id} goes back to term ${message.term}`);
    if (message.term > watched.term) watched.term = message.term;
    if (message.type === "vote") this.#votes(watched, message.term, id, hardState);
    if (message.type === "voteReply" && message.granted) this.#votes(watched, message.term, message.to, hardState);
    if (message.type === "appendAccepted" && message.term === hardState.term) {
      must(disk.lastIndex >= message.index, () => `member ${id} promises ${message.index}, holds ${disk.lastIndex}`);
    }
  }

  receives(member: SimMember, { node }: Process, message: Message): void {
    const watched = this.#watch(member);
    const { term, role } = node.softState;
    if (message.type === "preVote") {
      watched.before = { term, role };
      if (isOlderThan(node.log, message)) watched.askedInVain++;
      return;
    }
    watched.leads?.heardAt.set(message.from, watched.leads.ticks);
    if (isFromLeader(message) && message.term >= term) watched.askedInVain = 0;
  }

  /** Checks that a pre-vote changes neither term nor role. */
  received(member: SimMember, { node }: Process, message: Message): void {
    if (message.type !== "preVote") return;
    const { before } = this.#watch(member);
    const { term, role } = node.softState;
    must(before?.term === term && before.role === role, () => `a pre-vote moved member ${member.id}`);
  }

  /** Checks a `ready` before it is executed. */
  handedOut(member: SimMember, { node }: Process, { softState, committed, write }: Ready): void {
    const watched = this.#watch(member);
    if (softState?.role === "leader") this.#elected(member, node.log, softState.term);
    else if (softState !== undefined) watched.leads = undefined;
    for (const { index, term } of committed) {
      must(this.#decided[index]?.term === term, () => `member ${member.id} applies ${index} of term ${term}`);
      must(member.disk.termAt(index) === term, () => `member ${member.id} applies ${index}, not durable on its disk`);
    }
    const { leads } = watched;
    const first = write?.entries[0];
    if (leads === undefined || first === undefined) return;
    must(first.index > leads.writtenTo, () => `leader ${member.id} replaces its entry ${first.index}`);
    leads.writtenTo = write?.mark.index ?? leads.writtenTo;
  }

  /** Checks a member after all consequences of an input. */
  settled(member: SimMember, { node }: Process): void {
    const watched = this.#watched.get(member.id) as Watched;
    const { log } = node;
    const { commit } = log;
    if (commit !== watched.commit) this.#commits(watched, log);
    const { leads } = watched;
    if (leads === undefined || node.softState.role !== "leader" || node.softState.term !== leads.term) return;
    must(log.lastIndex >= leads.lastIndex, () => `leader ${member.id} shortened its log`);
    leads.lastIndex = log.lastIndex;
    const { memberships } = log;
    const newest = memberships.at(-1);
    if (newest !== undefined && newest.index !== leads.membershipIndex) {
      leads.membershipIndex = newest.index;
      this.#changes(member, log);
    }
  }

  applied(member: SimMember, entry: Entry, machine: Machine, command: Command | undefined): void {
    const { index } = entry;
    const decided = this.#decided[index];
    must(decided?.term === entry.term, () => `member ${member.id} applied ${index}, which was decided otherwise`);
    this.#sameState(member, decided, machine, index);
    if (command === undefined) return;
    const key = command.client * 2 ** 32 + command.sequence;
    const before = this.#effects.get(key);
    must(before === undefined || before === index, () => `command ${key} took effect at ${before} and ${index}`);
    this.#effects.set(key, index);
  }

  installed(member: SimMember, { meta, state }: Checkpoint): void {
    this.snapshotsInstalled++;
    const decided = this.#decided[meta.index];
    must(decided?.term === meta.term, () => `member ${member.id} installs ${meta.index}, which is not decided`);
    must(state.index === meta.index, () => `a snapshot says ${meta.index} and holds ${state.index}`);
    this.#sameState(member, decided, state, meta.index);
  }

  /**
   * Checks that a leader without a quorum resigns within two election timeouts, and that a transfer ends within one.
   */
  ticked(member: SimMember, { node }: Process): void {
    const { leads } = this.#watch(member);
    if (leads === undefined) return;
    const { role, membership, transferringTo, progress } = node.status();
    if (role !== "leader") return;
    leads.ticks++;
    leads.transferTicks = transferringTo === noMember ? 0 : leads.transferTicks + 1;
    must(leads.transferTicks <= electionTicks + 1, () => `leader ${member.id} still hands over to ${transferringTo}`);
    const heard = isQuorum(membership, (other) => {
      return other === member.id || leads.ticks - (leads.heardAt.get(other) ?? 0) <= 2 * electionTicks;
    });
    must(heard, () => `member ${member.id} leads without a quorum`);
    for (const peer of progress) {
      const before = leads.matched.get(peer.member) ?? 0;
      must(peer.match >= before, () => `leader ${member.id} has member ${peer.member} go back from ${before}`);
      leads.matched.set(peer.member, peer.match);
    }
  }

  #elected(member: SimMember, log: LogView, term: Term): void {
    const { id } = member;
    const watched = this.#watch(member);
    if (watched.leads?.term === term) return;
    const other = this.#leaders.get(term);
    must(other === undefined || other === id, () => `members ${other} and ${id} both lead term ${term}`);
    this.#leaders.set(term, id);
    const { index: membershipIndex, membership } = log.memberships.at(-1) ?? { index: 0 as Index, membership: none };
    const mayLead = log.memberships.slice(-2).some(({ membership: { voters, outgoing } }) => {
      return voters.includes(id) || outgoing.includes(id);
    });
    must(mayLead || watched.askedInVain >= 3, () => `member ${id} leads and is no voter`);
    watched.askedInVain = 0;
    const voted = isQuorum(membership, (voter) => this.#votedFor(voter, term) === id);
    must(voted, () => `member ${id} leads term ${term} without a quorum of votes`);
    this.#holdsDecided(id, log, term);
    const { lastIndex } = log;
    const heardAt = new Map(membersOf(membership).map((peer) => [peer, 0]));
    const writtenTo = 0 as Index;
    watched.leads = {
      term,
      lastIndex,
      writtenTo,
      membershipIndex,
      ticks: 0,
      transferTicks: 0,
      heardAt,
      matched: new Map(),
    };
  }

  /** Returns the vote that a member sent. A single member sends none, so only its disk has it. */
  #votedFor(voter: MemberId, term: Term): MemberId | undefined {
    const watched = this.#watched.get(voter);
    const { hardState } = watched?.member.disk ?? {};
    return watched?.votes.get(term) ?? (hardState?.term === term ? hardState.vote : undefined);
  }

  /**
   * Checks leader completeness (§3.6.3): the log has the entries committed in earlier terms. By log matching, the last of
   * them stands for all. A leader whose votes came late may lack entries that a later term has committed in the meantime.
   */
  #holdsDecided(id: MemberId, log: LogView, term: Term): void {
    const before = this.#decisions.findLast((decision) => decision.inTerm < term);
    if (before === undefined || log.base.index > before.upTo) return;
    const { upTo } = before;
    const decided = this.#decided[upTo];
    must(log.termAt(upTo) === decided?.term, () => `leader ${id} lacks entry ${upTo} of term ${decided?.term}`);
  }

  #commits(watched: Watched, log: LogView): void {
    const { id } = watched.member;
    const { commit, base, lastIndex } = log;
    must(commit > watched.commit, () => `member ${id} goes back from commit ${watched.commit} to ${commit}`);
    must(commit <= lastIndex, () => `member ${id} commits ${commit} beyond ${lastIndex}`);
    for (let index = Math.max(watched.commit + 1, base.index); index <= commit; index++) {
      const term = log.termAt(index as Index);
      if (index === 0 || term === undefined) continue;
      const decided = this.#decided[index];
      if (decided === undefined) this.#decided[index] = { term, hash: undefined };
      else must(decided.term === term, () => `entry ${index} is decided as ${decided.term}, then as ${term}`);
    }
    if (commit > this.#lastDecided) this.#decides(watched, log);
    this.#memberships.check(id, log);
    watched.commit = commit;
  }

  /** Checks a first commit: the entry is of the leader's own term and durable on a quorum. */
  #decides({ member, leads }: Watched, log: LogView): void {
    const { commit } = log;
    const term = log.termAt(commit);
    const { role, term: current } = this.#process(member).node.softState;
    must(role === "leader" || leads !== undefined, () => `follower ${member.id} is the first to commit ${commit}`);
    must(term === current, () => `member ${member.id} commits ${commit} of term ${term} in term ${current}`);
    const { membership } = log.memberships.at(-1) ?? { membership: none };
    const stored = isQuorum(membership, (voter) => this.#isDurable(voter, commit, term));
    must(stored, () => `entry ${commit} is committed but not durable on a quorum`);
    this.#memberships.decide(this.#lastDecided, log);
    this.#lastDecided = commit;
    const last = this.#decisions.at(-1);
    if (last?.inTerm === current) last.upTo = commit;
    else this.#decisions.push({ inTerm: current, upTo: commit });
  }

  #isDurable(voter: MemberId, index: Index, term: Term | undefined): boolean {
    const disk = this.#watched.get(voter)?.member.disk;
    if (disk === undefined) return false;
    return disk.termAt(index) === term || disk.base.index > index;
  }

  /**
   * Checks that only one change is open, and that two configurations in use never have quorums that could decide
   * separately.
   */
  #changes(member: SimMember, { memberships, commit }: LogView): void {
    this.membershipChanges++;
    const open = memberships.filter(({ index }) => index > commit);
    must(open.length <= 1, () => `leader ${member.id} has ${open.length} membership changes open`);
    const [before, after] = memberships.slice(-2);
    if (before === undefined || after === undefined) return;
    must(quorumsMeet(before.membership, after.membership), () => `disjoint quorums at entry ${after.index}`);
  }

  #votes(watched: Watched, term: Term, candidate: MemberId, hardState: { term: Term; vote: MemberId }): void {
    const { id } = watched.member;
    const before = watched.votes.get(term);
    must(before === undefined || before === candidate, () => `member ${id} votes for ${before} and ${candidate}`);
    const kept = hardState.term > term || hardState.vote === candidate;
    must(kept, () => `member ${id} votes for ${candidate} in term ${term} and could forget it`);
    watched.votes.set(term, candidate);
  }

  #sameState({ id }: SimMember, decided: Decided, { hash }: Machine, index: Index): void {
    decided.hash ??= hash;
    must(decided.hash === hash, () => `member ${id} has another state at ${index}`);
  }

  #watch(member: SimMember): Watched {
    const known = this.#watched.get(member.id);
    if (known !== undefined) return known;
    const watched: Watched = {
      member,
      term: 0 as Term,
      votes: new Map(),
      commit: 0 as Index,
      leads: undefined,
      before: undefined,
      askedInVain: 0,
    };
    this.#watched.set(member.id, watched);
    return watched;
  }

  #process(member: SimMember): Process {
    must(member.process !== undefined, () => `member ${member.id} does not run`);
    return member.process;
  }
}

const none: Membership = { voters: [], outgoing: [], learners: [], learnersNext: [] };

/** Reports whether a message that waited for a write may leave although the member is in a later term. */
function isOld({ type }: Message): boolean {
  return type === "appendAccepted" || type === "voteReply" || type === "vote" || type.endsWith("Reply");
}

function isFromLeader({ type }: Message): boolean {
  return type === "append" || type === "heartbeat" || type === "snapshot";
}

function isOlderThan(log: LogView, { lastTerm, lastIndex }: PreVote): boolean {
  return lastTerm < log.lastTerm || (lastTerm === log.lastTerm && lastIndex < log.lastIndex);
}

/** Reports whether the members form a quorum. Counted independently of the code under test. */
export function isQuorum({ voters, outgoing }: Membership, isIn: (member: MemberId) => boolean): boolean {
  const isMajority = (half: readonly MemberId[]) => 2 * half.filter(isIn).length > half.length;
  return isMajority(voters) && (outgoing.length === 0 || isMajority(outgoing));
}

/**
 * Reports whether every quorum of one membership shares a member with every quorum of the other, by trying all subsets.
 */
export function quorumsMeet(left: Membership, right: Membership): boolean {
  const members = [...new Set([...membersOf(left), ...membersOf(right)])];
  for (let subset = 0; subset < 1 << members.length; subset++) {
    const isIn = (member: MemberId) => ((subset >> members.indexOf(member)) & 1) === 1;
    if (isQuorum(left, isIn) && isQuorum(right, (member) => !isIn(member))) return false;
  }
  return true;
}
