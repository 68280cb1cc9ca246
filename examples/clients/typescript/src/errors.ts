import type { components } from "./schema.js";

type Schemas = components["schemas"];
export type Money = Schemas["Money"];

/** What a desk says of an error, in whichever of its forms: all members but the text are optional. */
interface Fault {
  message?: string;
  detail?: string;
  code?: string;
  kind?: string;
  param?: string | null;
  price?: Money | null;
  recovery?: Schemas["Recovery"] | null;
  payment?: Schemas["HowToPay"];
}

/** A desk refused a request, or a call or an answer failed. `message` says why, for a person. */
export class DeskError extends Error {
  /** The kind of the error, such as `thread_not_found`; the desk's documentation lists all. */
  readonly code: string;
  /** The member, header or precondition at fault. */
  readonly param: string | undefined;
  /** The price to agree to, or to pay. */
  readonly price: Money | undefined;
  /** How to pay, where a payment is required. */
  readonly payment: Schemas["HowToPay"] | undefined;
  /** What helps, and the names of the actions that do it. */
  readonly recovery: Schemas["Recovery"] | undefined;

  constructor(
    /** The HTTP status; 200 where the request was accepted and its work failed later. */
    readonly status: number,
    fault: Fault,
    /** Seconds to wait before another attempt. */
    readonly retryAfter?: number,
  ) {
    super(fault.message ?? fault.detail ?? `The desk answered with the status ${status}.`);
    this.name = "DeskError";
    this.code = fault.code ?? fault.kind ?? "unknown";
    this.param = fault.param ?? undefined;
    this.price = fault.price ?? undefined;
    this.payment = fault.payment;
    this.recovery = fault.recovery ?? undefined;
  }

  /** Reads a refusal: `{"error": {…}}` of threads, or problem details (RFC 9457) of actions. */
  static async from(response: Response): Promise<DeskError> {
    const body = (await response.json().catch(() => ({}))) as Fault & { error?: Fault };
    const seconds = Number(response.headers.get("Retry-After") ?? NaN);
    const wait = Number.isNaN(seconds) ? undefined : seconds;
    return new DeskError(response.status, body.error ?? body, wait);
  }
}
