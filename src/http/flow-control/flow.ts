import type { FlowSchema } from "../../api/types/flowcontrol-v1.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";

/** A request with the schema that it matches. Requests with the same schema and distinguisher form a flow. */
export interface Flow {
  readonly user: UserInfo;
  readonly info: RequestInfo;
  readonly schema: FlowSchema;
  readonly distinguisher: string;
}
