// The box to ask, on every page that has one, and what helps to read a page.
//
// Replies are untrusted text. They become elements by createElement and textContent only, so
// nothing in an answer can act on the page.

import { Conversation } from "./chat/conversation.js";
import { markSections } from "./contents.js";
import { startSearch } from "./search.js";

for (const root of document.querySelectorAll("[data-ask]")) new Conversation(root);
markSections();
startSearch();
