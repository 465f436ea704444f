import { systemUser } from "../access/authentication/system-user.ts";
import type { WriteContext } from "./write-context.ts";

/** Context of writes that the server makes itself, without a request. */
export const serverContext: WriteContext = { user: systemUser, manager: "quorate", dryRun: false, warn() {} };

/** The same under the name of the Kubernetes component that makes such writes, which clients expect as the manager. */
export const apiServerContext: WriteContext = { ...serverContext, manager: "kube-apiserver" };
export const controllerManagerContext: WriteContext = { ...serverContext, manager: "kube-controller-manager" };
