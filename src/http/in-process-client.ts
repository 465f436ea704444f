import { systemUser } from "../access/authentication/system-user.ts";
import type { Authorizer } from "../access/authorization/authorizer.ts";
import type { Client } from "../client/client.ts";
import { RequestClient } from "../client/request-client.ts";
import type { Clock } from "../process/clock.ts";
import type { Handler } from "../request/exchange.ts";
import type { UserInfo } from "../request/user-info.ts";
import { authorization } from "./filters/authorization.ts";
import { InProcessTransport, type InProcessTransportParts } from "./in-process-transport.ts";

/** The user that an in-process client acts as. */
export interface ClientUser {
  readonly name: string;
  /** Groups besides `system:authenticated`. */
  readonly groups?: readonly string[] | undefined;
}

/** Makes clients inside the server, for an administrator or for a user with limited rights. */
export type OpenClient = (user?: ClientUser) => Client;

export interface InProcessClientParts {
  /** Answers every resource request. */
  readonly handler: Handler;
  readonly authorizer: Authorizer;
  readonly clock: Clock;
  /** Receives faults of the server, which clients see as a 500. */
  readonly onFault: (error: unknown) => void;
  /** Receives every answer. */
  readonly onAnswer?: InProcessTransportParts["onAnswer"];
}

const everybody = "system:authenticated";
const administrator: UserInfo = {
  name: "kubernetes-admin",
  uid: "",
  groups: ["system:masters", everybody],
  extra: new Map(),
};

export interface InProcessClients {
  readonly open: OpenClient;
  /** Returns a client that acts as the server itself. */
  readonly own: Client;
}

export function inProcessClients({ handler, authorizer, clock, ...hooks }: InProcessClientParts): InProcessClients {
  const guarded = authorization(authorizer)(handler);
  const open = (user: UserInfo, handle: Handler) => {
    const transport = new InProcessTransport({ ...hooks, handler: handle, user, clock });
    return new RequestClient({ transport, clock, userAgent: "quorate" });
  };
  return {
    own: open(systemUser, handler),
    // The administrator's requests are not authorized, because an authorizer may need the network.
    open: (user) => (user === undefined ? open(administrator, handler) : open(userOf(user), guarded)),
  };
}

function userOf({ name, groups = [] }: ClientUser): UserInfo {
  return { name, uid: "", groups: [...new Set([...groups, everybody])], extra: new Map() };
}
