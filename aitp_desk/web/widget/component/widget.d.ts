// The element <aitp-chat> as TypeScript sees it, served at /widget.d.ts.

/** Why an `error` was fired. */
export type AitpChatErrorCode =
  | "token_expired"
  | "token_refused"
  | "context_too_long"
  | "not_answered"
  | "not_sent";

/** What the events of the element carry in `detail`. */
export interface AitpChatEvents {
  /** The chat is loaded; all methods take effect at once. */
  ready: null;
  open: null;
  close: null;
  /** The visitor's message has arrived at the desk. */
  message: { text: string };
  /** The desk has answered, or a person, who is named. */
  answer: { text: string; name: string };
  /** Actions of the site were called for an answer. */
  action: { names: string[] };
  /** A person of the site answers from now on. */
  handover: { name: string };
  /** Something failed; `text` says it in the visitor's language, after `identify` and `setContext` in English. */
  error: { code: AitpChatErrorCode; text: string };
}

/** Where the visitor is: at most 500 characters as JSON, sent with each question as data. */
export type AitpChatContext = Record<string, string | number | boolean | null>;

export interface AitpChat extends HTMLElement {
  /** Opens the chat. */
  open(): Promise<void>;
  /** Closes the chat; an inline one stays. */
  close(): void;
  /** Opens the chat and asks, for an action of the site if it is named; resolves once it is sent. */
  ask(text: string, action?: string): Promise<void>;
  /** Leaves the conversation and begins another. */
  newConversation(): Promise<void>;
  /**
   * Goes on as the person that a token of your backend names, or with null as nobody.
   *
   * Resolves to whether the desk accepts the token; to undefined where the chat is not loaded yet,
   * which uses it when it is.
   */
  identify(token: string | null): Promise<boolean> | undefined;
  /** Sends this with each question from now on; null ends that. */
  setContext(context: AitpChatContext | null): Promise<void> | undefined;
  addEventListener<Name extends keyof AitpChatEvents>(
    type: Name,
    listener: (event: CustomEvent<AitpChatEvents[Name]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void;
  removeEventListener<Name extends keyof AitpChatEvents>(
    type: Name,
    listener: (event: CustomEvent<AitpChatEvents[Name]>) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "aitp-chat": AitpChat;
  }
}
