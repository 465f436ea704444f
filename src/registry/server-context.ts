import { systemUser } from "../authentication/system-user.ts";
import type { WriteContext } from "./registry.ts";

/** The context of writes that the server makes by itself, without a request. */
export const serverContext: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };
