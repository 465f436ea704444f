import type { UserInfo } from "../authentication/user-info.ts";
import type { Attributes } from "./attributes.ts";

/** `noOpinion` leaves the question to the next authorizer; at the end it means no. The reason may reach the client. */
export interface Decision {
  readonly kind: "allow" | "deny" | "noOpinion";
  readonly reason: string;
}

export interface Authorizer {
  authorize(user: UserInfo, attributes: Attributes): Decision | Promise<Decision>;
}

export const noOpinion: Decision = { kind: "noOpinion", reason: "" };
