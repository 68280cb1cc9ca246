// The box to ask, on whatever page it stands.
//
// What comes back is somebody's text. It becomes elements by createElement and textContent alone,
// so nothing in an answer can act on the page.

import { Conversation } from "./chat/conversation.js";

for (const root of document.querySelectorAll("[data-ask]")) new Conversation(root);
