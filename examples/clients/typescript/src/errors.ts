import type { Fault } from "./schema.js";

/**
 * A desk refused a request; or with the status 200, a call or an answer failed later. `message`
 * says why, and `fault` has the member at fault, the price and what helps.
 */
export class DeskError extends Error {
  /** The kind of the error, such as `thread_not_found`; the desk's documentation lists all. */
  readonly code: string;

  constructor(readonly status: number, readonly fault: Fault, readonly retryAfter?: number) {
    super(fault.message ?? fault.detail ?? `The desk answered with the status ${status}.`);
    this.code = fault.code ?? fault.kind ?? "unknown";
  }

  /** Reads a refusal: `{"error": {…}}` of threads, or problem details (RFC 9457) of actions. */
  static async from(response: Response): Promise<DeskError> {
    const body = (await response.json().catch(() => ({}))) as Fault & { error?: Fault };
    const seconds = response.headers.get("Retry-After");
    return new DeskError(response.status, body.error ?? body, seconds ? +seconds : undefined);
  }
}

/** Whether another attempt may help: the connection was lost, or the desk is busy. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof DeskError)) return error instanceof TypeError; // of `fetch`
  return error.retryAfter !== undefined || [429, 502, 503, 504].includes(error.status);
}
