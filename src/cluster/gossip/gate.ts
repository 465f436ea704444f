import type { Contact, DropReason } from "./network.ts";
import type { PeerId } from "./peer-id.ts";

/** Decides which peers may connect. */
export class Gate {
  readonly #onDropped: (reason: DropReason) => void;
  readonly #banMs: number;
  readonly #bannedUntilMs = new Map<PeerId, number>();
  #contacts: ReadonlyMap<PeerId, Contact> = new Map();

  constructor(onDropped: (reason: DropReason) => void, banMs: number) {
    this.#onDropped = onDropped;
    this.#banMs = banMs;
  }

  admit(contacts: readonly Contact[]): void {
    this.#contacts = new Map(contacts.map((contact) => [contact.peerId, contact]));
    for (const peerId of this.#bannedUntilMs.keys()) {
      if (!this.#contacts.has(peerId)) this.#bannedUntilMs.delete(peerId);
    }
  }

  contact(peerId: PeerId): Contact | undefined {
    return this.#contacts.get(peerId);
  }

  ban(peerId: PeerId): void {
    this.#onDropped("banned");
    this.#bannedUntilMs.set(peerId, performance.now() + this.#banMs);
  }

  isBanned(peerId: PeerId): boolean {
    const untilMs = this.#bannedUntilMs.get(peerId) ?? 0;
    if (untilMs > performance.now()) return true;
    this.#bannedUntilMs.delete(peerId);
    return false;
  }

  refuses(peerId: PeerId): boolean {
    const isMember = this.#contacts.has(peerId);
    if (isMember && !this.isBanned(peerId)) return false;
    this.#onDropped(isMember ? "banned" : "stranger");
    return true;
  }
}
