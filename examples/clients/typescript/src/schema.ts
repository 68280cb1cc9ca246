// Written by `npm run generate` from a desk's /openapi.json. Do not edit.

export interface paths {
    "/v1/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a thread */
        post: operations["post_v1_threads"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a thread and start a run on it */
        post: operations["post_v1_threads_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe an action */
        get: operations["get_capabilities_name"];
        put?: never;
        /** Call an action with its arguments */
        post: operations["post_capabilities_name"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/{name}/calls/{call_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The status of a call */
        get: operations["get_capabilities_name_calls_call_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a thread */
        get: operations["get_v1_threads_thread_id"];
        put?: never;
        /** Change a thread's metadata, or read it */
        post: operations["post_v1_threads_thread_id"];
        /** Delete a thread */
        delete: operations["delete_v1_threads_thread_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the child threads: what partner sites were asked */
        get: operations["get_v1_threads_thread_id_threads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Become the owner of a thread without an owner */
        post: operations["post_v1_threads_thread_id_claim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List messages */
        get: operations["get_v1_threads_thread_id_messages"];
        put?: never;
        /** Post a message on a thread */
        post: operations["post_v1_threads_thread_id_messages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/actors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the participants */
        get: operations["get_v1_threads_thread_id_actors"];
        put?: never;
        /** Add an actor */
        post: operations["post_v1_threads_thread_id_actors"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/actors/{actor}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove an actor */
        delete: operations["delete_v1_threads_thread_id_actors_actor"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the grants of a thread */
        get: operations["get_v1_threads_thread_id_grants"];
        put?: never;
        /** Share a thread */
        post: operations["post_v1_threads_thread_id_grants"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/grants/{grant_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a grant */
        delete: operations["delete_v1_threads_thread_id_grants_grant_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the open requests */
        get: operations["get_v1_threads_thread_id_requests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/requests/{capability}/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer an open request with its form */
        post: operations["post_v1_threads_thread_id_requests_capability_request_id"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the signed transcript of a thread */
        get: operations["get_v1_threads_thread_id_transcript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/transcript/signatures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Store a signature of a thread */
        post: operations["post_v1_threads_thread_id_transcript_signatures"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow the events of a thread */
        get: operations["get_v1_threads_thread_id_events"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/messages/{message_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a message */
        get: operations["get_v1_threads_thread_id_messages_message_id"];
        put?: never;
        /** Change a message's metadata, or read it */
        post: operations["post_v1_threads_thread_id_messages_message_id"];
        /** Delete a message */
        delete: operations["delete_v1_threads_thread_id_messages_message_id"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/messages/{message_id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rate a message */
        post: operations["post_v1_threads_thread_id_messages_message_id_feedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/contact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Leave an email address for a person's answer */
        post: operations["post_v1_threads_thread_id_contact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs */
        get: operations["get_v1_threads_thread_id_runs"];
        put?: never;
        /** Start a run */
        post: operations["post_v1_threads_thread_id_runs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/runs/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a run */
        get: operations["get_v1_threads_thread_id_runs_run_id"];
        put?: never;
        /** Change a run's metadata, or read it */
        post: operations["post_v1_threads_thread_id_runs_run_id"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/runs/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a run */
        post: operations["post_v1_threads_thread_id_runs_run_id_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/runs/{run_id}/submit_tool_outputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit the tool outputs of a run */
        post: operations["post_v1_threads_thread_id_runs_run_id_submit_tool_outputs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/runs/{run_id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the steps of a run */
        get: operations["get_v1_threads_thread_id_runs_run_id_steps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/runs/{run_id}/steps/{step_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a step of a run */
        get: operations["get_v1_threads_thread_id_runs_run_id_steps_step_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/site_info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What this site is, who runs it and what its pages are about. */
        post: operations["site_info"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/content_search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers a question from the pages of this site, with sources. */
        post: operations["content_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/contact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** How to reach the people behind this site. */
        post: operations["contact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/list_pages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lists the pages of this site, or of the given folder or tag, newest first. */
        post: operations["list_pages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/get_video": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds a video by title or topic. */
        post: operations["get_video"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/get_audio": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds a recording by title or topic. */
        post: operations["get_audio"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/get_image": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds pictures by content or page. */
        post: operations["get_image"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/get_download": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds a downloadable file by name or topic. */
        post: operations["get_download"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/get_data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds data records by name or topic. */
        post: operations["get_data"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/get_quote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Quotes what items cost, with the discounts for quantity and customers.
         * @description From ten pieces of an item there is a discount for groups; students, members and veterans of
         *     the armed forces and rescue volunteers have one off regular prices. Of two discounts the higher
         *     counts. Nothing is ordered.
         */
        post: operations["get_quote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/order_lookup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Returns the state of an order. */
        post: operations["order_lookup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/cancel_order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancels an order, whole. Its items may be sold to others from then on.
         * @description It cannot be undone.
         *
         *     It requires: The order is not packed yet, and was placed at most 30 days ago.
         */
        post: operations["cancel_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/product_search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finds products with their article numbers and prices by words of their names. */
        post: operations["product_search"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/inventory_check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Says how many pieces of an item are in stock in the stores, this minute.
         * @description Nothing is set aside by asking: who wants to be sure places an order.
         */
        post: operations["inventory_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/return_order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Announces the return of an item of an order, all pieces of it, to the store of the order.
         * @description The money is paid once the store has checked the item. Who does not bring it keeps it.
         *
         *     It can be undone.
         *
         *     It requires: The item was collected, can be returned in this condition, and its return period is not over.
         */
        post: operations["return_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/late_return": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Announces a late return of an unused item, for store credit.
         * @description A person of the shop decides about expensive items.
         *
         *     It can be undone.
         *
         *     A person of the site may have to approve it first.
         *
         *     It requires: The return period of the item is over, but only for a short time.
         */
        post: operations["late_return"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/buy_trail_map": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sells the map of a trail: its waypoints, with where there is water.
         * @description It is paid here and sent at once.
         *
         *     It costs 4.90 USD.
         */
        post: operations["buy_trail_map"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/place_order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Places an order, which is set aside in a store, collected there and paid at the till.
         * @description It can be cancelled until it is packed, and for 30 days at most. If an item's number leaves its
         *     color or size open, all variants are set aside and you choose at the till. It is refused where
         *     the store has too few of an item. ship_order has things sent instead.
         *
         *     It can be undone within 30 days.
         *
         *     It may cost something. You are asked to agree to the price first.
         *
         *     It requires: The store has all items.
         */
        post: operations["place_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/contact_human": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Puts a question to a person of the shop, who answers in their own words.
         * @description The answer takes minutes while a store is open, otherwise until the next morning.
         */
        post: operations["contact_human"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/ship_order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Places an order that is sent to an address.
         * @description It is paid by the link in a mail before it leaves the warehouse. It can be cancelled until it is
         *     packed, and for 30 days at most. Standard takes 3 to 5 business days and is free from 75 dollars
         *     in the lower 48 states; express takes 2 and overnight one. place_order has things set aside in a
         *     store instead.
         *
         *     It can be undone within 30 days.
         *
         *     It may cost something. You are asked to agree to the price first.
         *
         *     It requires: Choose a color or size of each item that has several.
         *
         *     It requires: The warehouse has all items.
         *
         *     It requires: This service is available at the address.
         */
        post: operations["ship_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/book_visit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Books half an hour with a boot fitter in a store. It costs nothing.
         * @description Visits begin from the next day on, within the opening hours. One is called off by telephone.
         *
         *     It can be undone.
         *
         *     It requires: The store is open during the whole visit, which is at least one day and at most some weeks ahead.
         *
         *     It requires: The time is not booked yet.
         */
        post: operations["book_visit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * Money
         * @description An amount of money.
         */
        Money: {
            /**
             * Format: decimal
             * @description Exact, in units of the currency; written as text, such as "29.99".
             */
            amount: string;
            /** @description An ISO 4217 code, such as EUR. */
            currency: string;
        };
        /**
         * Question
         * @description A question answered from the site's content. It continues a session or begins one.
         */
        Question: {
            /** @description The question. */
            query: string;
            /**
             * @description The language to answer in, as a tag such as en or fr-CA.
             * @default null
             */
            locale?: string | null;
            /**
             * @description The longest answer, in tokens.
             * @default null
             */
            max_tokens?: number | null;
            /**
             * @description The types of answers that can be read, the preferred first.
             * @default null
             */
            accept_types?: string[] | null;
            /**
             * @description The session_id of an earlier response, or a thread's id, to continue there.
             * @default null
             */
            session_id?: string | null;
            /**
             * @description The answer to the desk's clarifying question in that session.
             * @default null
             */
            clarification?: string | null;
        };
        /**
         * CallStatus
         * @description The status of a call: its result, its progress, its error, or how to pay for it.
         */
        CallStatus: {
            id: string;
            capability: string;
            /** @enum {unknown} */
            status: "accepted" | "expired" | "failed" | "pending" | "success";
            /** @description In the form of the action's schema. */
            result?: unknown;
            response?: components["schemas"]["CallAnswer"];
            effects?: components["schemas"]["SideEffect"][];
            error?: components["schemas"]["CallError"] | null;
            /** @description Of an unfinished call, as text. */
            progress?: string;
            eta_seconds?: number | null;
            /** @description The address of the status. */
            poll?: string;
            price?: components["schemas"]["Money"];
            payment?: components["schemas"]["HowToPay"];
            callback?: components["schemas"]["Callback"];
        };
        /**
         * CallAnswer
         * @description A result as text, with the members of an AHP answer. See AHP 0.1, section 6.2.
         */
        CallAnswer: {
            content_type: string;
            answer: string;
            sources: components["schemas"]["CallSource"][];
        };
        /**
         * CallSource
         * @description A source of an answer.
         */
        CallSource: {
            title: string;
            url: string;
            /** @enum {unknown} */
            relevance: "background" | "direct" | "indirect";
        };
        /**
         * SideEffect
         * @description An effect of a call in addition to its result (AHP 0.1, appendix C.2).
         */
        SideEffect: {
            /** @description A short name such as ``email``. */
            type: string;
            /** @description What happened, in a sentence. */
            description: string;
        };
        /**
         * CallError
         * @description Why a call failed, for its caller.
         */
        CallError: {
            /** @description The code of an ``ErrorKind`` or a ``FailureCode``. */
            kind: string;
            message: string;
            /**
             * @description The argument that it is about; None for none.
             * @default null
             */
            param?: string | null;
            /**
             * @description What helps, if known.
             * @default null
             */
            recovery?: components["schemas"]["Recovery"] | null;
        };
        /**
         * Recovery
         * @description What helps after a refusal (HAC 1.0, section 6.2).
         */
        Recovery: {
            /** @description What the caller should do, in a sentence. */
            description: string;
            /**
             * @description Names of the actions that do it.
             * @default []
             */
            actions?: string[];
        };
        /**
         * HowToPay
         * @description How to pay: a quote with every way to pay it, or where the call waits.
         */
        HowToPay: {
            quote_id?: string;
            price?: components["schemas"]["Money"];
            expires_at?: string;
            /** @description AITP's payment request. */
            message?: Record<string, unknown>;
            /** @description The same in the form that AITP-01 publishes. */
            aitp_message?: Record<string, unknown>;
            /** @description The payment requirements of x402. */
            x402?: Record<string, unknown>[];
            /** @description Pages where a person pays. */
            links?: components["schemas"]["PayLink"][];
            call_id?: string;
            thread_id?: string;
            /** @description Where a payment message is sent. */
            pay_at?: string;
        };
        /**
         * PayLink
         * @description A page where a person pays.
         */
        PayLink: {
            /** @description The payment method, in a few words. */
            title: string;
            url: string;
        };
        /**
         * Callback
         * @description Where the outcome of a call is sent.
         */
        Callback: {
            method: string;
            url: string;
        };
        /**
         * Problem
         * @description A refusal as problem details (RFC 9457).
         */
        Problem: {
            /** @enum {unknown} */
            type: "about:blank";
            title: string;
            status: number;
            detail: string;
            /** @description The kind of the error. */
            code: string;
            param?: string;
            /** @description Seconds. */
            retry_after?: number;
            recovery?: components["schemas"]["Recovery"];
            /** @description Of the call that has failed. */
            id?: string;
            /** @description To be agreed to, or to be paid. */
            price?: components["schemas"]["Money"] | null;
            payment?: components["schemas"]["HowToPay"];
            available_capabilities?: string[];
            available_types?: string[];
        };
        /**
         * AHPResponse
         * @description The response to a question or a call (sections 6.2 to 6.4 and 9.2).
         */
        AHPResponse: {
            /** @enum {unknown} */
            status: "accepted" | "clarification_needed" | "expired" | "failed" | "pending" | "success";
            session_id: string | null;
            response?: components["schemas"]["AHPAnswer"];
            clarification?: components["schemas"]["AHPClarification"];
            /** @description Of ``clarification``; later test suites look for it here. */
            clarification_question?: string;
            /** @description The options of ``clarification``, likewise. */
            suggested_queries?: string[];
            progress?: string;
            error?: components["schemas"]["CallError"] | null;
            eta_seconds?: number | null;
            poll?: string;
            callback?: components["schemas"]["AHPCallback"];
            meta?: components["schemas"]["AHPMeta"];
        };
        /**
         * AHPAnswer
         * @description An answer (section 6.2).
         */
        AHPAnswer: {
            content_type: string;
            /** @description The result of an action, in its own form. */
            payload?: unknown;
            answer: string;
            sources: components["schemas"]["AHPSource"][];
            follow_up: components["schemas"]["AHPFollowUp"];
            /** @description Structured messages of the capabilities that the caller has declared. */
            messages?: unknown[];
            /** @description The text that these messages do not express. */
            besides?: string;
        };
        /**
         * AHPSource
         * @description A source of an answer.
         */
        AHPSource: {
            title: string;
            url: string;
            /** @enum {unknown} */
            relevance: "background" | "direct" | "indirect";
        };
        /**
         * AHPFollowUp
         * @description Questions that may follow.
         */
        AHPFollowUp: {
            suggested_queries: string[];
        };
        /**
         * AHPClarification
         * @description A clarifying question of the desk (section 6.3).
         */
        AHPClarification: {
            question: string;
            options: string[] | null;
            free_form: boolean;
            messages?: unknown[];
            besides?: string;
        };
        /**
         * AHPCallback
         * @description Where the outcome of a call is sent.
         */
        AHPCallback: {
            method: string;
            url: string;
        };
        /**
         * AHPMeta
         * @description How a response was made (section 6.6), with extensions of this desk.
         */
        AHPMeta: {
            tokens_used: number;
            capability_used: string;
            mode: string;
            cached: boolean;
            tools_used: string[];
            content_signals: unknown;
            locale?: string;
            model?: string;
            fallback?: string;
            last_event?: number;
            people?: components["schemas"]["AHPPerson"][];
            asked_person?: string;
            content_type?: string;
            fallback_from?: string;
            cache?: components["schemas"]["AHPCacheFigures"];
            price?: components["schemas"]["Money"];
            payment?: components["schemas"]["HowToPay"];
        };
        /**
         * AHPPerson
         * @description A message of a person of the site.
         */
        AHPPerson: {
            actor: string;
            text: string;
        };
        /**
         * AHPCacheFigures
         * @description The answer cache: its hit rate, from 0 to 1, and the age of this answer.
         */
        AHPCacheFigures: {
            hit_rate: number;
            age_seconds?: number;
        };
        /**
         * Deleted
         * @description The deleted object; of a message with the desk's replies to it.
         */
        Deleted: {
            id: string;
            object: string;
            deleted: boolean;
            replies?: components["schemas"]["DeletedReply"][];
        };
        /**
         * DeletedReply
         * @description A reply of the desk to a message that was deleted.
         */
        DeletedReply: {
            id: string;
            deleted: boolean;
        };
        /**
         * Transcript
         * @description A thread's messages with the desk's signature and a proof of each message.
         */
        Transcript: {
            statement: components["schemas"]["Statement"];
            signature: string;
            messages: (components["schemas"]["Said"] | components["schemas"]["Tombstone"])[];
        };
        /**
         * Statement
         * @description The desk's statement about a thread.
         */
        Statement: {
            /** @description The head of the chain, as far as the reader may read. */
            head: components["schemas"]["Head"];
            /** @description Ids of the participants, the desk's own first. */
            actors: string[];
            /** @description Unix seconds. */
            opened_at: number;
            /** @description Unix seconds of the statement. */
            time: number;
            /** @description Where the desk publishes its keys. */
            keys: string;
            /** @description Numbers of the messages that were erased by then, ascending. Otherwise a holder of the file could replace a message by a tombstone. */
            erased: number[];
            /** @description Those of this head and of earlier ones. */
            countersignatures: components["schemas"]["Countersignature"][];
        };
        /**
         * Head
         * @description The head of a thread's chain: one value that covers all messages before.
         */
        Head: {
            /** @description The address of the desk that keeps the thread. */
            site: string;
            /** @description Its id. */
            thread: string;
            /** @description Number of the newest message; 0 for none. */
            seq: number;
            /** @description Its link, in base64url. */
            link: string;
            /**
             * @description Version of this form.
             * @enum {unknown}
             */
            v: 1;
        };
        /**
         * Countersignature
         * @description Another party's signature of a head of the thread, as reported by the desk.
         */
        Countersignature: {
            /** @description The address of the desk in the head; the desk may have moved since. */
            site: string;
            /** @description Of the head. */
            seq: number;
            /** @description Of the head. */
            link: string;
            /** @description The signature with its public key; see ``auth/keys/transcripts.py``. */
            jws: string;
            /** @description The actor of the caller that sent it, verified by the desk. */
            actor: string;
            /** @description Unix seconds at which the desk accepted it. */
            time: number;
        };
        /**
         * Said
         * @description A message with its proof.
         */
        Said: {
            /** @enum {unknown} */
            object: "message";
            seq: number;
            /** @enum {unknown} */
            role: "assistant" | "user";
            actor: string;
            /** @description Unix seconds. */
            created_at: number;
            content: string[];
            attachments: components["schemas"]["TranscriptFile"][];
            /** @description As in ``chain.py``, in base64url. */
            salt: string;
            /** @description As in ``chain.py``, in base64url. */
            digest: string;
            /** @description As in ``chain.py``, in base64url. */
            link: string;
        };
        /**
         * TranscriptFile
         * @description A file attached to a message; its content is not part of the proof.
         */
        TranscriptFile: {
            file_id: string;
            tools: string[];
        };
        /**
         * Tombstone
         * @description The rest of an erased message: its place in the chain, without content.
         */
        Tombstone: {
            /** @enum {unknown} */
            object: "tombstone";
            seq: number;
            digest: string;
            link: string;
        };
        /**
         * HeadSignature
         * @description A signature of a thread's head, as the desk keeps it.
         */
        HeadSignature: {
            /** @enum {unknown} */
            object: "thread.transcript.signature";
            site: string;
            seq: number;
            link: string;
            jws: string;
            actor: string;
            time: number;
        };
        /**
         * HeadSignatureDraft
         * @description A signature of a thread's head: a JWS with detached content.
         */
        HeadSignatureDraft: {
            seq: number;
            jws: string;
        };
        /**
         * Error
         * @description A refusal in the OpenAI API's form.
         */
        Error: {
            error: components["schemas"]["ErrorDetail"];
        };
        /**
         * ErrorDetail
         * @description An error: its text and its kind.
         */
        ErrorDetail: {
            message: string;
            type: string;
            param: string | null;
            code: string;
            recovery?: components["schemas"]["Recovery"];
            price?: components["schemas"]["Money"] | null;
            payment?: components["schemas"]["HowToPay"];
        };
        /**
         * Message
         * @description A message of a thread. With OpenAI-Beta, content holds objects.
         *
         *     Where its sender preferred to wait it has run and replies.
         */
        Message: {
            /** @enum {unknown} */
            object: "thread.message";
            id: string;
            created_at: number;
            thread_id: string;
            /** @enum {unknown} */
            status: "completed" | "in_progress";
            role: string;
            content: (string | components["schemas"]["TextBlock"])[];
            attachments: components["schemas"]["Attachment"][];
            metadata: {
                [key: string]: string;
            };
            run_id: string | null;
            assistant_id?: string | null;
            completed_at?: number | null;
            incomplete_at?: number | null;
            incomplete_details?: {
                [key: string]: string;
            } | null;
            run?: components["schemas"]["RunFollowed"] | null;
            replies?: components["schemas"]["Message"][];
        };
        /**
         * TextBlock
         * @description A part of a message, with OpenAI-Beta.
         */
        TextBlock: {
            /** @enum {unknown} */
            type: "text";
            text: components["schemas"]["TextValue"];
        };
        /**
         * TextValue
         * @description A text, and its annotations: always none.
         */
        TextValue: {
            value: string;
            /** @default [] */
            annotations?: unknown[];
        };
        /**
         * Attachment
         * @description A file that is attached to a message.
         */
        Attachment: {
            file_id: string;
            /** @default [] */
            tools?: components["schemas"]["AttachmentTool"][];
        };
        /**
         * AttachmentTool
         * @description A tool that an attached file is meant for.
         */
        AttachmentTool: {
            type: string;
        };
        /**
         * RunFollowed
         * @description The run that was waited for (Prefer).
         */
        RunFollowed: {
            /** @enum {unknown} */
            object: "thread.run";
            id: string;
            thread_id: string;
            status: components["schemas"]["RunState"];
            created_at: number;
            last_error: components["schemas"]["RunFailure"] | null;
        };
        /**
         * RunState
         * @description The state of a run, as in the OpenAI Runs API, and ``capped``.
         *
         *     ``capped`` is a run that was never started because the thread has reached its hourly limit of
         *     automatic replies.
         * @enum {unknown}
         */
        RunState: "cancelled" | "cancelling" | "capped" | "completed" | "expired" | "failed" | "in_progress" | "incomplete" | "queued" | "requires_action";
        /**
         * RunFailure
         * @description Why a run failed.
         */
        RunFailure: {
            code: string;
            message: string | null;
        };
        /**
         * MessageDraft
         * @description A message to be sent on a thread.
         */
        MessageDraft: {
            content: string | (string | Record<string, unknown>)[];
            /** @default user */
            role?: string;
            /** @default null */
            attachments?: components["schemas"]["AttachmentDraft"][] | null;
            /** @default null */
            metadata?: {
                [key: string]: string;
            } | null;
        };
        /**
         * AttachmentDraft
         * @description A file to be attached to a message.
         */
        AttachmentDraft: {
            file_id: string;
            /** @default null */
            tools?: components["schemas"]["AttachmentTool"][] | null;
        };
        /**
         * Actor
         * @description A participant of a thread.
         */
        Actor: {
            /** @enum {unknown} */
            object: "thread.actor";
            id: string;
            capabilities: components["schemas"]["Capability"][];
        };
        /**
         * Capability
         * @description A family of structured messages that an actor understands.
         */
        Capability: {
            schema: string;
        };
        /**
         * ActorDraft
         * @description An actor that joins a thread.
         */
        ActorDraft: {
            id: string;
            /** @default null */
            capabilities?: (string | Record<string, unknown>)[] | null;
            /** @default null */
            principal?: string | null;
        };
        /**
         * OpenRequest
         * @description A request that waits for an answer on a thread: as text, and as a form.
         *
         *     An object that fits the form is sent by POST to answer_at.
         */
        OpenRequest: {
            /** @enum {unknown} */
            object: "thread.request";
            id: string;
            capability: string;
            text: string;
            form: Record<string, unknown>;
            open_until: string;
            payment?: components["schemas"]["HowToPay"];
            answer_at: string;
            asked_by: string;
            actor: string | null;
            may_answer: boolean;
            rejected_answers: components["schemas"]["Rejected"][];
        };
        /**
         * Rejected
         * @description A rejected answer to an open request.
         */
        Rejected: {
            /** @description The message that holds it. */
            message_id: string;
            /** @description Id of the actor that gave it. */
            actor: string;
            /** @description Why, as the plugin's own messages name it. */
            reason: string;
        };
        /**
         * Thread
         * @description A thread with its newest messages. Those are left out with OpenAI-Beta.
         *
         *     Read by GET it has the ratings of these messages, if there are any. Where its opener preferred
         *     to wait it has run and replies.
         */
        Thread: {
            /** @enum {unknown} */
            object: "thread";
            id: string;
            created_at: number;
            messages?: components["schemas"]["Message"][];
            ratings?: components["schemas"]["RatingChange"][];
            metadata: Record<string, unknown>;
            tool_resources?: Record<string, unknown>;
            run?: components["schemas"]["RunFollowed"] | null;
            replies?: components["schemas"]["Message"][];
        };
        /**
         * RatingChange
         * @description How many people have rated a message.
         */
        RatingChange: {
            /** @enum {unknown} */
            object: "thread.message.feedback";
            id: string;
            up: number;
            down: number;
        };
        /**
         * ThreadDraft
         * @description A thread to be opened, with its first messages.
         */
        ThreadDraft: {
            /** @default null */
            messages?: (string | components["schemas"]["MessageDraft"])[] | null;
            /** @default null */
            metadata?: Record<string, unknown> | null;
            /** @default null */
            actors?: (string | components["schemas"]["ActorDraft"])[] | null;
        };
        /**
         * Update
         * @description The new metadata; without it nothing changes, and the object is read.
         */
        Update: {
            /** @default null */
            metadata?: Record<string, unknown> | null;
        };
        /**
         * Grant
         * @description With whom a thread is shared. Only the reply to a new link has its secret.
         */
        Grant: {
            /** @enum {unknown} */
            object: "thread.grant";
            id: string;
            thread_id: string;
            created_at: number;
            principal: string | null;
            link: boolean;
            /** @enum {unknown} */
            may: "read" | "write";
            expires_at: number | null;
            secret?: string;
        };
        /**
         * GrantDraft
         * @description With whom a thread is to be shared: a known caller, or by a link.
         */
        GrantDraft: {
            /** @enum {unknown} */
            may: "read" | "write";
            /** @default null */
            principal?: string | null;
            /** @default false */
            link?: boolean;
            /** @default null */
            expires_at?: number | null;
            /** @default null */
            expires_in?: number | null;
        };
        /**
         * Feedback
         * @description What the caller thinks of a message of the site.
         */
        Feedback: {
            /** @enum {unknown} */
            object: "thread.message.feedback";
            id: string;
            thread_id: string;
            rating: components["schemas"]["Rating"] | null;
            reason: string | null;
        };
        /**
         * Rating
         * @description Whether an answer helped.
         * @enum {unknown}
         */
        Rating: "down" | "up";
        /**
         * FeedbackDraft
         * @description What a caller thinks of a message; null takes it back.
         */
        FeedbackDraft: {
            rating: components["schemas"]["Rating"] | null;
            /** @default null */
            reason?: string | null;
        };
        /**
         * Contact
         * @description Where a visitor who waits for a person wants the answer too.
         */
        Contact: {
            /** @enum {unknown} */
            object: "thread.contact";
            thread_id: string;
            email: string | null;
        };
        /**
         * ContactDraft
         * @description An email address; null takes it back.
         */
        ContactDraft: {
            email: string | null;
        };
        /**
         * Run
         * @description An agent's work on a thread. Times are Unix seconds.
         */
        Run: {
            /** @enum {unknown} */
            object: "thread.run";
            id: string;
            created_at: number;
            thread_id: string;
            assistant_id: string;
            status: components["schemas"]["RunState"];
            started_at: number | null;
            expires_at: number | null;
            cancelled_at: number | null;
            failed_at: number | null;
            completed_at: number | null;
            required_action: components["schemas"]["RequiredAction"] | null;
            last_error: components["schemas"]["RunFailure"] | null;
            incomplete_details: components["schemas"]["Incomplete"] | null;
            model: string;
            instructions: string;
            tools: components["schemas"]["ToolDeclared"][];
            tool_choice: ("auto" | "none" | "required") | components["schemas"]["ToolChoice"];
            parallel_tool_calls: boolean;
            response_format: "auto" | components["schemas"]["ResponseFormat"];
            truncation_strategy: components["schemas"]["Truncation"];
            max_prompt_tokens: number | null;
            max_completion_tokens: number | null;
            temperature: number | null;
            top_p: number | null;
            metadata: {
                [key: string]: string;
            };
            usage: components["schemas"]["TokensCounted"] | null;
        };
        /**
         * RequiredAction
         * @description What a run waits for.
         */
        RequiredAction: {
            /** @enum {unknown} */
            type: "submit_tool_outputs";
            submit_tool_outputs: components["schemas"]["OwedCalls"];
        };
        /**
         * OwedCalls
         * @description The calls whose outputs the run waits for.
         */
        OwedCalls: {
            tool_calls: components["schemas"]["ToolCallShown"][];
        };
        /**
         * ToolCallShown
         * @description A call of a function.
         */
        ToolCallShown: {
            /** @enum {unknown} */
            type: "function";
            id: string;
            function: components["schemas"]["FunctionCall"];
        };
        /**
         * FunctionCall
         * @description The called function, its arguments as JSON, and its output once that is known.
         */
        FunctionCall: {
            name: string;
            arguments: string;
            output?: string | null;
        };
        /**
         * Incomplete
         * @description Why a run ended early.
         */
        Incomplete: {
            reason: string | null;
        };
        /**
         * ToolDeclared
         * @description A tool that a run may call: a function of the caller's.
         */
        ToolDeclared: {
            type: string;
            /** @default null */
            function?: components["schemas"]["FunctionDeclared"] | null;
        };
        /**
         * FunctionDeclared
         * @description A function of the caller's.
         */
        FunctionDeclared: {
            name: string;
            /** @default null */
            description?: string | null;
            /** @default null */
            parameters?: Record<string, unknown> | null;
        };
        /**
         * ToolChoice
         * @description The choice of one function.
         */
        ToolChoice: {
            /** @enum {unknown} */
            type: "function";
            function: components["schemas"]["NamedFunction"];
        };
        /**
         * NamedFunction
         * @description A function that a run calls in any case.
         */
        NamedFunction: {
            name: string;
        };
        /**
         * ResponseFormat
         * @description The format of answers: always text.
         */
        ResponseFormat: {
            /** @enum {unknown} */
            type: "text";
        };
        /**
         * Truncation
         * @description How much of a thread its agent is given.
         */
        Truncation: {
            /** @enum {unknown} */
            type: "auto" | "last_messages";
            last_messages: number | null;
        };
        /**
         * TokensCounted
         * @description The tokens that a model counted.
         */
        TokensCounted: {
            prompt_tokens: number;
            completion_tokens: number;
            total_tokens: number;
        };
        /**
         * RunDraft
         * @description A run to be started.
         */
        RunDraft: {
            assistant_id: string;
            /** @default null */
            model?: string | null;
            /** @default null */
            instructions?: string | null;
            /** @default null */
            tools?: components["schemas"]["ToolDeclared"][] | null;
            /** @default null */
            tool_choice?: ("auto" | "none" | "required") | components["schemas"]["ToolChoice"] | null;
            /** @default null */
            parallel_tool_calls?: boolean | null;
            /** @default null */
            response_format?: "auto" | components["schemas"]["ResponseFormat"] | null;
            /** @default null */
            truncation_strategy?: components["schemas"]["TruncationDraft"] | null;
            /** @default null */
            max_prompt_tokens?: number | null;
            /** @default null */
            max_completion_tokens?: number | null;
            /** @default null */
            temperature?: number | null;
            /** @default null */
            top_p?: number | null;
            /** @default null */
            stream?: boolean | null;
            /** @default null */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @default null */
            additional_instructions?: string | null;
            /** @default null */
            additional_messages?: (string | components["schemas"]["MessageDraft"])[] | null;
        };
        /**
         * TruncationDraft
         * @description How much of a thread its agent is to be given.
         */
        TruncationDraft: {
            /**
             * @default auto
             * @enum {unknown}
             */
            type?: "auto" | "last_messages";
            /** @default null */
            last_messages?: number | null;
        };
        /**
         * ThreadRunDraft
         * @description A thread to be opened, and a run on it.
         */
        ThreadRunDraft: {
            assistant_id: string;
            /** @default null */
            model?: string | null;
            /** @default null */
            instructions?: string | null;
            /** @default null */
            tools?: components["schemas"]["ToolDeclared"][] | null;
            /** @default null */
            tool_choice?: ("auto" | "none" | "required") | components["schemas"]["ToolChoice"] | null;
            /** @default null */
            parallel_tool_calls?: boolean | null;
            /** @default null */
            response_format?: "auto" | components["schemas"]["ResponseFormat"] | null;
            /** @default null */
            truncation_strategy?: components["schemas"]["TruncationDraft"] | null;
            /** @default null */
            max_prompt_tokens?: number | null;
            /** @default null */
            max_completion_tokens?: number | null;
            /** @default null */
            temperature?: number | null;
            /** @default null */
            top_p?: number | null;
            /** @default null */
            stream?: boolean | null;
            /** @default null */
            metadata?: {
                [key: string]: string;
            } | null;
            /** @default null */
            thread?: components["schemas"]["ThreadDraft"] | null;
        };
        /**
         * ToolOutputs
         * @description The outputs that a run waits for.
         */
        ToolOutputs: {
            tool_outputs: components["schemas"]["ToolOutput"][];
            /** @default null */
            stream?: boolean | null;
        };
        /**
         * ToolOutput
         * @description The output of a caller's function.
         */
        ToolOutput: {
            tool_call_id: string;
            /** @default  */
            output?: string;
        };
        /**
         * RunStep
         * @description A step of a run. Times are Unix seconds.
         */
        RunStep: {
            /** @enum {unknown} */
            object: "thread.run.step";
            id: string;
            created_at: number;
            run_id: string;
            thread_id: string;
            assistant_id: string;
            /** @enum {unknown} */
            type: "message_creation" | "tool_calls";
            /** @enum {unknown} */
            status: "cancelled" | "completed" | "expired" | "failed" | "in_progress";
            completed_at: number | null;
            cancelled_at: number | null;
            expired_at: number | null;
            failed_at: number | null;
            last_error: components["schemas"]["RunFailure"] | null;
            step_details: components["schemas"]["MessageCreation"] | components["schemas"]["ToolCalls"];
            metadata: {
                [key: string]: string;
            };
            usage: components["schemas"]["TokensCounted"] | null;
        };
        /**
         * MessageCreation
         * @description A step in which a message was written.
         */
        MessageCreation: {
            /** @enum {unknown} */
            type: "message_creation";
            message_creation: components["schemas"]["MessageNamed"];
        };
        /**
         * MessageNamed
         * @description A message that was written.
         */
        MessageNamed: {
            message_id: string;
        };
        /**
         * ToolCalls
         * @description A step in which functions were called.
         */
        ToolCalls: {
            /** @enum {unknown} */
            type: "tool_calls";
            tool_calls: components["schemas"]["ToolCallShown"][];
        };
        "get_quote.arguments": {
            /** @description what is asked for; pieces of one item count together. */
            items: {
                /**
                 * article number
                 * @description Such as TO-2201, or TO-2201-SAGE with its color and size.
                 */
                sku: string;
                /** @default 1 */
                quantity?: number;
            }[];
            /**
             * @description who buys.
             * @default standard
             * @enum {unknown}
             */
            customer_type?: "standard" | "student" | "military" | "rescue";
            /**
             * @description where the items would be collected: its state may add a sales tax.
             * @default null
             */
            store?: ("Bend" | "Portland" | "Boise") | null;
        };
        /** @description The price of items. */
        "get_quote.result": {
            lines: {
                sku: string;
                title: string;
                quantity: number;
                /** @description of one piece, before the discount. */
                unit_price: components["schemas"]["get_quote.result.Money"];
                /** @description the discount. */
                discount_percent: number;
                /** @description for all pieces, after the discount and before tax. */
                amount: components["schemas"]["get_quote.result.Money"];
                /** @description on the amount. */
                sales_tax: components["schemas"]["get_quote.result.Money"];
            }[];
            /** @description after discounts, before tax. */
            subtotal: components["schemas"]["get_quote.result.Money"];
            /** @description in the state of the store; 0 without a store. */
            sales_tax: components["schemas"]["get_quote.result.Money"];
            /** @description with tax. */
            total: components["schemas"]["get_quote.result.Money"];
        };
        /** @description An amount of money. */
        "get_quote.result.Money": {
            /**
             * Format: decimal
             * @description exact, in units of the currency; written as text, such as "29.99".
             */
            amount: string;
            /** @description an ISO 4217 code, such as EUR. */
            currency: string;
        };
        "order_lookup.arguments": {
            /**
             * order number
             * @description TH and eight digits.
             */
            order_id: string;
            /**
             * @description the mail address that it was placed with; needed for orders of other callers.
             * @default null
             */
            email?: string | null;
        };
        /** @description An order, which is collected in a store and paid there, or sent. */
        "order_lookup.result": {
            /** @description its number. */
            id: string;
            /** @description where it is collected; null if it is shipped. */
            store: ("Bend" | "Portland" | "Boise") | null;
            /** @enum {unknown} */
            state: "placed" | "packed" | "collected" | "cancelled";
            lines: {
                sku: string;
                title: string;
                quantity: number;
                /** @description of one piece, before the discount. */
                unit_price: components["schemas"]["order_lookup.result.Money"];
                /** @description the discount. */
                discount_percent: number;
                /** @description for all pieces, after the discount and before tax. */
                amount: components["schemas"]["order_lookup.result.Money"];
                /** @description on the amount. */
                sales_tax: components["schemas"]["order_lookup.result.Money"];
            }[];
            /** @description with sales tax and shipping. */
            total: components["schemas"]["order_lookup.result.Money"];
            /** @description Unix seconds. */
            placed_at: number;
            /** @description Unix seconds. */
            collected_at: number | null;
            /** @description whether cancel_order is possible now. */
            can_be_cancelled: boolean;
            /**
             * @description how it is shipped; null if it is collected.
             * @default null
             */
            parcel?: {
                /** @description the city; an order number and a mail address do not open the whole address. */
                destination: string;
                /** @enum {unknown} */
                service: "standard" | "express" | "overnight";
                price: components["schemas"]["order_lookup.result.Money"];
            } | null;
        };
        /** @description An amount of money. */
        "order_lookup.result.Money": {
            /**
             * Format: decimal
             * @description exact, in units of the currency; written as text, such as "29.99".
             */
            amount: string;
            /** @description an ISO 4217 code, such as EUR. */
            currency: string;
        };
        "cancel_order.arguments": {
            /**
             * order number
             * @description TH and eight digits.
             */
            order_id: string;
            /**
             * @description the mail address that it was placed with; needed for orders of other callers.
             * @default null
             */
            email?: string | null;
            /** @description The purpose of the call. */
            _intent?: string;
        };
        /** @description An order, which is collected in a store and paid there, or sent. */
        "cancel_order.result": {
            /** @description its number. */
            id: string;
            /** @description where it is collected; null if it is shipped. */
            store: ("Bend" | "Portland" | "Boise") | null;
            /** @enum {unknown} */
            state: "placed" | "packed" | "collected" | "cancelled";
            lines: {
                sku: string;
                title: string;
                quantity: number;
                /** @description of one piece, before the discount. */
                unit_price: components["schemas"]["cancel_order.result.Money"];
                /** @description the discount. */
                discount_percent: number;
                /** @description for all pieces, after the discount and before tax. */
                amount: components["schemas"]["cancel_order.result.Money"];
                /** @description on the amount. */
                sales_tax: components["schemas"]["cancel_order.result.Money"];
            }[];
            /** @description with sales tax and shipping. */
            total: components["schemas"]["cancel_order.result.Money"];
            /** @description Unix seconds. */
            placed_at: number;
            /** @description Unix seconds. */
            collected_at: number | null;
            /** @description whether cancel_order is possible now. */
            can_be_cancelled: boolean;
            /**
             * @description how it is shipped; null if it is collected.
             * @default null
             */
            parcel?: {
                /** @description the city; an order number and a mail address do not open the whole address. */
                destination: string;
                /** @enum {unknown} */
                service: "standard" | "express" | "overnight";
                price: components["schemas"]["cancel_order.result.Money"];
            } | null;
        };
        /** @description An amount of money. */
        "cancel_order.result.Money": {
            /**
             * Format: decimal
             * @description exact, in units of the currency; written as text, such as "29.99".
             */
            amount: string;
            /** @description an ISO 4217 code, such as EUR. */
            currency: string;
        };
        "product_search.arguments": {
            /** @description such as "rain jacket", or an article number. */
            words: string;
        };
        /** @description The found products, the best match first. */
        "product_search.result": {
            products: {
                /** @description its article number. */
                sku: string;
                title: string;
                /** @description of one piece, without sales tax. */
                price: {
                    /**
                     * Format: decimal
                     * @description exact, in units of the currency; written as text, such as "29.99".
                     */
                    amount: string;
                    /** @description an ISO 4217 code, such as EUR. */
                    currency: string;
                };
                /** @description its page on this site. */
                page: string | null;
                /**
                 * @description its variants; only in the description of one product.
                 * @default []
                 */
                variants?: {
                    /** @description its article number, for orders. */
                    sku: string;
                    color: string;
                    /** @description null if there is only one size. */
                    size: string | null;
                }[];
            }[];
        };
        "inventory_check.arguments": {
            /**
             * article number
             * @description Such as TO-2201, or TO-2201-SAGE with its color and size.
             */
            sku: string;
            /**
             * @description only this store; all three where it is left out.
             * @default null
             */
            store?: ("Bend" | "Portland" | "Boise") | null;
        };
        /** @description Where an item is in stock. */
        "inventory_check.result": {
            sku: string;
            title: string;
            stores: {
                /** @enum {unknown} */
                store: "Bend" | "Portland" | "Boise";
                count: number;
            }[];
            /** @description in all requested stores. */
            total: number;
        };
        "return_order.arguments": {
            /**
             * order number
             * @description TH and eight digits.
             */
            order_id: string;
            /**
             * article number
             * @description Such as TO-2201, or TO-2201-SAGE with its color and size.
             */
            sku: string;
            /**
             * @description boots may come back after they were worn; of all else nothing that was used.
             * @default unused
             * @enum {unknown}
             */
            condition?: "unused" | "used";
            /**
             * @description the mail address that it was placed with; needed for orders of other callers.
             * @default null
             */
            email?: string | null;
            /** @description The purpose of the call. */
            _intent?: string;
        };
        /** @description A return that was announced. */
        "return_order.result": {
            /** @description the number to name when the item is brought. */
            id: string;
            order_id: string;
            sku: string;
            /** @enum {unknown} */
            store: "Bend" | "Portland" | "Boise";
            /** @description the refund after the item was checked, with its sales tax. */
            amount: {
                /**
                 * Format: decimal
                 * @description exact, in units of the currency; written as text, such as "29.99".
                 */
                amount: string;
                /** @description an ISO 4217 code, such as EUR. */
                currency: string;
            };
            /**
             * @description ``refund`` as it was paid, or ``store_credit``.
             * @enum {unknown}
             */
            paid_as: "refund" | "store_credit";
        };
        "late_return.arguments": {
            /**
             * order number
             * @description TH and eight digits.
             */
            order_id: string;
            /**
             * article number
             * @description Such as TO-2201, or TO-2201-SAGE with its color and size.
             */
            sku: string;
            /**
             * @description the mail address that it was placed with; needed for orders of other callers.
             * @default null
             */
            email?: string | null;
            /** @description The purpose of the call. */
            _intent?: string;
            /**
             * Format: uri
             * @description The URL that receives a signed notification when the call ends.
             */
            _callback_url?: string;
        };
        /** @description A return that was announced. */
        "late_return.result": {
            /** @description the number to name when the item is brought. */
            id: string;
            order_id: string;
            sku: string;
            /** @enum {unknown} */
            store: "Bend" | "Portland" | "Boise";
            /** @description the refund after the item was checked, with its sales tax. */
            amount: {
                /**
                 * Format: decimal
                 * @description exact, in units of the currency; written as text, such as "29.99".
                 */
                amount: string;
                /** @description an ISO 4217 code, such as EUR. */
                currency: string;
            };
            /**
             * @description ``refund`` as it was paid, or ``store_credit``.
             * @enum {unknown}
             */
            paid_as: "refund" | "store_credit";
        };
        "buy_trail_map.arguments": {
            /**
             * @description which one.
             * @enum {unknown}
             */
            trail: "Larkspur Loop" | "Tarn Traverse" | "Cinder Rim";
            /** @description The payment for the call. */
            _payment?: {
                /** @description An AITP payment for the quote. */
                payment?: Record<string, unknown>;
                x402_payment?: {
                    /** @description x402's payment payload. */
                    payload: Record<string, unknown>;
                };
            };
        };
        /** @description A trail, from its start to its end. */
        "buy_trail_map.result": {
            /** @enum {unknown} */
            trail: "Larkspur Loop" | "Tarn Traverse" | "Cinder Rim";
            /** @description its length. */
            kilometres: number;
            waypoints: {
                name: string;
                /** @description in degrees (WGS 84), north and east. */
                latitude: number;
                /** @description in degrees (WGS 84), north and east. */
                longitude: number;
                /** @description in metres. */
                elevation: number;
                /** @description a remark about it. */
                note: string;
            }[];
        };
        "place_order.arguments": {
            /** @description what is ordered; pieces of one item count together. */
            items: {
                /**
                 * article number
                 * @description Such as TO-2201, or TO-2201-SAGE with its color and size.
                 */
                sku: string;
                /** @default 1 */
                quantity?: number;
            }[];
            /**
             * @description where it is collected.
             * @enum {unknown}
             */
            store: "Bend" | "Portland" | "Boise";
            /**
             * Format: email
             * @description a mail address of who collects it; with the order's number it opens the order.
             */
            email: string;
            /**
             * @description for the discount; a proof is shown at the till.
             * @default standard
             * @enum {unknown}
             */
            customer_type?: "standard" | "student" | "military" | "rescue";
            /** @description The price to which the caller agrees. */
            _confirm?: {
                amount: string;
                currency: string;
            };
            /** @description The purpose of the call. */
            _intent?: string;
        };
        /** @description An order, which is collected in a store and paid there, or sent. */
        "place_order.result": {
            /** @description its number. */
            id: string;
            /** @description where it is collected; null if it is shipped. */
            store: ("Bend" | "Portland" | "Boise") | null;
            /** @enum {unknown} */
            state: "placed" | "packed" | "collected" | "cancelled";
            lines: {
                sku: string;
                title: string;
                quantity: number;
                /** @description of one piece, before the discount. */
                unit_price: components["schemas"]["place_order.result.Money"];
                /** @description the discount. */
                discount_percent: number;
                /** @description for all pieces, after the discount and before tax. */
                amount: components["schemas"]["place_order.result.Money"];
                /** @description on the amount. */
                sales_tax: components["schemas"]["place_order.result.Money"];
            }[];
            /** @description with sales tax and shipping. */
            total: components["schemas"]["place_order.result.Money"];
            /** @description Unix seconds. */
            placed_at: number;
            /** @description Unix seconds. */
            collected_at: number | null;
            /** @description whether cancel_order is possible now. */
            can_be_cancelled: boolean;
            /**
             * @description how it is shipped; null if it is collected.
             * @default null
             */
            parcel?: {
                /** @description the city; an order number and a mail address do not open the whole address. */
                destination: string;
                /** @enum {unknown} */
                service: "standard" | "express" | "overnight";
                price: components["schemas"]["place_order.result.Money"];
            } | null;
        };
        /** @description An amount of money. */
        "place_order.result.Money": {
            /**
             * Format: decimal
             * @description exact, in units of the currency; written as text, such as "29.99".
             */
            amount: string;
            /** @description an ISO 4217 code, such as EUR. */
            currency: string;
        };
        "contact_human.arguments": {
            /** @description The question or decision, with all necessary details. */
            question: string;
            /** @description The purpose of the call. */
            _intent?: string;
            /**
             * Format: uri
             * @description The URL that receives a signed notification when the call ends.
             */
            _callback_url?: string;
        };
        /** @description The result of a call that an operator has carried out. */
        "contact_human.result": {
            /** @description the operator's text. */
            answer: string;
            /** @description the operator's name. */
            answered_by: string;
        };
        "ship_order.arguments": {
            /** @description what is ordered; of what comes in colors or sizes by the number of one of them. */
            items: {
                /**
                 * article number
                 * @description Such as TO-2201, or TO-2201-SAGE with its color and size.
                 */
                sku: string;
                /** @default 1 */
                quantity?: number;
            }[];
            /** @description An address in the United States. */
            address: {
                /** @description who gets it. */
                name: string;
                /** @description with its number, or a PO box. */
                street: string;
                city: string;
                /** @enum {unknown} */
                state: "AL" | "AK" | "AZ" | "AR" | "CA" | "CO" | "CT" | "DE" | "DC" | "FL" | "GA" | "HI" | "ID" | "IL" | "IN" | "IA" | "KS" | "KY" | "LA" | "ME" | "MD" | "MA" | "MI" | "MN" | "MS" | "MO" | "MT" | "NE" | "NV" | "NH" | "NJ" | "NM" | "NY" | "NC" | "ND" | "OH" | "OK" | "OR" | "PA" | "RI" | "SC" | "SD" | "TN" | "TX" | "UT" | "VT" | "VA" | "WA" | "WV" | "WI" | "WY";
                /** @description the ZIP code, of five digits. */
                postal_code: string;
                /**
                 * @description an apartment, a company.
                 * @default
                 */
                extra?: string;
            };
            /**
             * Format: email
             * @description a mail address for the link; with the order's number it opens the order.
             */
            email: string;
            /**
             * @description how it is sent.
             * @default standard
             * @enum {unknown}
             */
            service?: "standard" | "express" | "overnight";
            /**
             * @description for the discount; a proof is asked for by mail.
             * @default standard
             * @enum {unknown}
             */
            customer_type?: "standard" | "student" | "military" | "rescue";
            /** @description The price to which the caller agrees. */
            _confirm?: {
                amount: string;
                currency: string;
            };
            /** @description The purpose of the call. */
            _intent?: string;
        };
        /** @description An order, which is collected in a store and paid there, or sent. */
        "ship_order.result": {
            /** @description its number. */
            id: string;
            /** @description where it is collected; null if it is shipped. */
            store: ("Bend" | "Portland" | "Boise") | null;
            /** @enum {unknown} */
            state: "placed" | "packed" | "collected" | "cancelled";
            lines: {
                sku: string;
                title: string;
                quantity: number;
                /** @description of one piece, before the discount. */
                unit_price: components["schemas"]["ship_order.result.Money"];
                /** @description the discount. */
                discount_percent: number;
                /** @description for all pieces, after the discount and before tax. */
                amount: components["schemas"]["ship_order.result.Money"];
                /** @description on the amount. */
                sales_tax: components["schemas"]["ship_order.result.Money"];
            }[];
            /** @description with sales tax and shipping. */
            total: components["schemas"]["ship_order.result.Money"];
            /** @description Unix seconds. */
            placed_at: number;
            /** @description Unix seconds. */
            collected_at: number | null;
            /** @description whether cancel_order is possible now. */
            can_be_cancelled: boolean;
            /**
             * @description how it is shipped; null if it is collected.
             * @default null
             */
            parcel?: {
                /** @description the city; an order number and a mail address do not open the whole address. */
                destination: string;
                /** @enum {unknown} */
                service: "standard" | "express" | "overnight";
                price: components["schemas"]["ship_order.result.Money"];
            } | null;
        };
        /** @description An amount of money. */
        "ship_order.result.Money": {
            /**
             * Format: decimal
             * @description exact, in units of the currency; written as text, such as "29.99".
             */
            amount: string;
            /** @description an ISO 4217 code, such as EUR. */
            currency: string;
        };
        "book_visit.arguments": {
            /**
             * @description which one.
             * @enum {unknown}
             */
            store: "Bend" | "Portland" | "Boise";
            /**
             * Format: date
             * @description the day of the visit.
             */
            day: string;
            /**
             * Format: partial-time
             * @description By the store's clock, such as 16:30.
             */
            time: string;
            /**
             * Format: email
             * @description a mail address of who comes.
             */
            email: string;
            /** @description The purpose of the call. */
            _intent?: string;
        };
        /** @description A visit that was booked. */
        "book_visit.result": {
            /** @description the number to name at the store. */
            id: string;
            /** @enum {unknown} */
            store: "Bend" | "Portland" | "Boise";
            /**
             * Format: date
             * @description the day.
             */
            day: string;
            /** @description local time at the store. */
            starts: string;
            /** @description local time at the store. */
            ends: string;
            /** @description of the store, to call the visit off. */
            telephone: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    post_v1_threads: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the request have no further effect. */
                "Idempotency-Key"?: string;
                /** @description wait=N makes the desk wait up to N seconds (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thread"];
                };
            };
        };
    };
    post_v1_threads_runs: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the request have no further effect. */
                "Idempotency-Key"?: string;
                /** @description wait=N makes the desk wait up to N seconds (RFC 7240). */
                Prefer?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadRunDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    get_capabilities_name: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
    post_capabilities_name: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the request have no further effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] | components["schemas"]["AHPResponse"];
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] | components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    get_capabilities_name_calls_call_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                call_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"];
                };
            };
        };
    };
    get_v1_threads_thread_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thread"];
                };
            };
        };
    };
    post_v1_threads_thread_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Update"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thread"];
                };
            };
        };
    };
    delete_v1_threads_thread_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
        };
    };
    get_v1_threads_thread_id_threads: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
                before?: string;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        object: "list";
                        data: components["schemas"]["Thread"][];
                        first_id: string | null;
                        last_id: string | null;
                        has_more: boolean;
                    };
                };
            };
        };
    };
    post_v1_threads_thread_id_claim: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Thread"];
                };
            };
        };
    };
    get_v1_threads_thread_id_messages: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
                before?: string;
                run_id?: string;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        object: "list";
                        data: components["schemas"]["Message"][];
                        first_id: string | null;
                        last_id: string | null;
                        has_more: boolean;
                    };
                };
            };
        };
    };
    post_v1_threads_thread_id_messages: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the request have no further effect. */
                "Idempotency-Key"?: string;
                /** @description wait=N makes the desk wait up to N seconds (RFC 7240). */
                Prefer?: string;
            };
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["MessageDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    get_v1_threads_thread_id_actors: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
                before?: string;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        object: "list";
                        data: components["schemas"]["Actor"][];
                        first_id: string | null;
                        last_id: string | null;
                        has_more: boolean;
                    };
                };
            };
        };
    };
    post_v1_threads_thread_id_actors: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ActorDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Actor"];
                };
            };
        };
    };
    delete_v1_threads_thread_id_actors_actor: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                actor: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
        };
    };
    get_v1_threads_thread_id_grants: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
                before?: string;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        object: "list";
                        data: components["schemas"]["Grant"][];
                        first_id: string | null;
                        last_id: string | null;
                        has_more: boolean;
                    };
                };
            };
        };
    };
    post_v1_threads_thread_id_grants: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["GrantDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Grant"];
                };
            };
        };
    };
    delete_v1_threads_thread_id_grants_grant_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                grant_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
        };
    };
    get_v1_threads_thread_id_requests: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
                before?: string;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        object: "list";
                        data: components["schemas"]["OpenRequest"][];
                        first_id: string | null;
                        last_id: string | null;
                        has_more: boolean;
                    };
                };
            };
        };
    };
    post_v1_threads_thread_id_requests_capability_request_id: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the request have no further effect. */
                "Idempotency-Key"?: string;
                /** @description wait=N makes the desk wait up to N seconds (RFC 7240). */
                Prefer?: string;
            };
            path: {
                thread_id: string;
                capability: string;
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    get_v1_threads_thread_id_transcript: {
        parameters: {
            query?: {
                seq?: number;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Transcript"];
                };
            };
        };
    };
    post_v1_threads_thread_id_transcript_signatures: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["HeadSignatureDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeadSignature"];
                };
            };
        };
    };
    get_v1_threads_thread_id_events: {
        parameters: {
            query?: {
                after?: string;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    get_v1_threads_thread_id_messages_message_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    post_v1_threads_thread_id_messages_message_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Update"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
        };
    };
    delete_v1_threads_thread_id_messages_message_id: {
        parameters: {
            query?: {
                with_replies?: "true" | "false";
            };
            header?: never;
            path: {
                thread_id: string;
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deleted"];
                };
            };
        };
    };
    post_v1_threads_thread_id_messages_message_id_feedback: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                message_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedbackDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
        };
    };
    post_v1_threads_thread_id_contact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ContactDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Contact"];
                };
            };
        };
    };
    get_v1_threads_thread_id_runs: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
                before?: string;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        object: "list";
                        data: components["schemas"]["Run"][];
                        first_id: string | null;
                        last_id: string | null;
                        has_more: boolean;
                    };
                };
            };
        };
    };
    post_v1_threads_thread_id_runs: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the request have no further effect. */
                "Idempotency-Key"?: string;
                /** @description wait=N makes the desk wait up to N seconds (RFC 7240). */
                Prefer?: string;
            };
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunDraft"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    get_v1_threads_thread_id_runs_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    post_v1_threads_thread_id_runs_run_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Update"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    post_v1_threads_thread_id_runs_run_id_cancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, unknown>;
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    post_v1_threads_thread_id_runs_run_id_submit_tool_outputs: {
        parameters: {
            query?: never;
            header?: {
                /** @description wait=N makes the desk wait up to N seconds (RFC 7240). */
                Prefer?: string;
            };
            path: {
                thread_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ToolOutputs"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Run"];
                };
            };
        };
    };
    get_v1_threads_thread_id_runs_run_id_steps: {
        parameters: {
            query?: {
                limit?: number;
                order?: "asc" | "desc";
                after?: string;
                before?: string;
            };
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @enum {unknown} */
                        object: "list";
                        data: components["schemas"]["RunStep"][];
                        first_id: string | null;
                        last_id: string | null;
                        has_more: boolean;
                    };
                };
            };
        };
    };
    get_v1_threads_thread_id_runs_run_id_steps_step_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                run_id: string;
                step_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunStep"];
                };
            };
        };
    };
    site_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    content_search: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    contact: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    list_pages: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    get_video: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    get_audio: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    get_image: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    get_download: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    get_data: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Question"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AHPResponse"];
                };
            };
        };
    };
    get_quote: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["get_quote.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["get_quote.result"];
                    };
                };
            };
        };
    };
    order_lookup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["order_lookup.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["order_lookup.result"];
                    };
                };
            };
        };
    };
    cancel_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["cancel_order.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["cancel_order.result"];
                    };
                };
            };
        };
    };
    product_search: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["product_search.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["product_search.result"];
                    };
                };
            };
        };
    };
    inventory_check: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["inventory_check.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["inventory_check.result"];
                    };
                };
            };
        };
    };
    return_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["return_order.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["return_order.result"];
                    };
                };
            };
        };
    };
    late_return: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["late_return.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["late_return.result"];
                    };
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"];
                };
            };
        };
    };
    buy_trail_map: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
                /** @description The x402 payment payload, in base64. */
                "PAYMENT-SIGNATURE"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["buy_trail_map.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    /** @description The x402 settlement response. */
                    "PAYMENT-RESPONSE"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["buy_trail_map.result"];
                    };
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"];
                };
            };
        };
    };
    place_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["place_order.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["place_order.result"];
                    };
                };
            };
        };
    };
    contact_human: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["contact_human.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["contact_human.result"];
                    };
                };
            };
            /** @description Accepted */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"];
                };
            };
        };
    };
    ship_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ship_order.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["ship_order.result"];
                    };
                };
            };
        };
    };
    book_visit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Makes repeats of the call have no further effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["book_visit.arguments"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CallStatus"] & {
                        result?: components["schemas"]["book_visit.result"];
                    };
                };
            };
        };
    };
}

type Schemas = components["schemas"];
type Json<Part> = NonNullable<Part> extends { content: { "application/json": infer Body } } ? Body : never;
export type Message = Schemas["Message"];
export type Money = Schemas["Money"];
export type Run = Schemas["Run"];
/** What a desk says of an error, in each of its forms. */
export interface Fault extends Partial<Omit<Schemas["ErrorDetail"], "message" | "recovery">> {
    message?: string | null;
    detail?: string;
    kind?: string;
    recovery?: Schemas["Recovery"] | null;
}
/** What an action takes and gives; any, for one that has no name here. */
export type Action<Name> = Name extends keyof Actions ? Actions[Name] : { takes: object; gives: unknown };
export type Call<Name> = Schemas["CallStatus"] & { result?: Action<Name>["gives"] };
export interface Actions {
    get_quote: { takes: Omit<Schemas["get_quote.arguments"], "_confirm">; gives: Schemas["get_quote.result"] };
    order_lookup: { takes: Omit<Schemas["order_lookup.arguments"], "_confirm">; gives: Schemas["order_lookup.result"] };
    cancel_order: { takes: Omit<Schemas["cancel_order.arguments"], "_confirm">; gives: Schemas["cancel_order.result"] };
    product_search: { takes: Omit<Schemas["product_search.arguments"], "_confirm">; gives: Schemas["product_search.result"] };
    inventory_check: { takes: Omit<Schemas["inventory_check.arguments"], "_confirm">; gives: Schemas["inventory_check.result"] };
    return_order: { takes: Omit<Schemas["return_order.arguments"], "_confirm">; gives: Schemas["return_order.result"] };
    late_return: { takes: Omit<Schemas["late_return.arguments"], "_confirm">; gives: Schemas["late_return.result"] };
    buy_trail_map: { takes: Omit<Schemas["buy_trail_map.arguments"], "_confirm">; gives: Schemas["buy_trail_map.result"] };
    place_order: { takes: Omit<Schemas["place_order.arguments"], "_confirm">; gives: Schemas["place_order.result"] };
    contact_human: { takes: Omit<Schemas["contact_human.arguments"], "_confirm">; gives: Schemas["contact_human.result"] };
    ship_order: { takes: Omit<Schemas["ship_order.arguments"], "_confirm">; gives: Schemas["ship_order.result"] };
    book_visit: { takes: Omit<Schemas["book_visit.arguments"], "_confirm">; gives: Schemas["book_visit.result"] };
}
export interface Operations {
    "POST /v1/threads": { takes: { header?: NonNullable<operations["post_v1_threads"]["parameters"]["header"]>; body?: Json<operations["post_v1_threads"]["requestBody"]> }; gives: Json<operations["post_v1_threads"]["responses"][200]> };
    "POST /v1/threads/runs": { takes: { header?: NonNullable<operations["post_v1_threads_runs"]["parameters"]["header"]>; body?: Json<operations["post_v1_threads_runs"]["requestBody"]> }; gives: Json<operations["post_v1_threads_runs"]["responses"][200]> };
    "GET /capabilities/{name}": { takes: { path: NonNullable<operations["get_capabilities_name"]["parameters"]["path"]> }; gives: Json<operations["get_capabilities_name"]["responses"][200]> };
    "POST /capabilities/{name}": { takes: { path: NonNullable<operations["post_capabilities_name"]["parameters"]["path"]>; header?: NonNullable<operations["post_capabilities_name"]["parameters"]["header"]>; body?: Json<operations["post_capabilities_name"]["requestBody"]> }; gives: Json<operations["post_capabilities_name"]["responses"][200]> };
    "GET /capabilities/{name}/calls/{call_id}": { takes: { path: NonNullable<operations["get_capabilities_name_calls_call_id"]["parameters"]["path"]> }; gives: Json<operations["get_capabilities_name_calls_call_id"]["responses"][200]> };
    "GET /v1/threads/{thread_id}": { takes: { path: NonNullable<operations["get_v1_threads_thread_id"]["parameters"]["path"]> }; gives: Json<operations["get_v1_threads_thread_id"]["responses"][200]> };
    "POST /v1/threads/{thread_id}": { takes: { path: NonNullable<operations["post_v1_threads_thread_id"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id"]["responses"][200]> };
    "DELETE /v1/threads/{thread_id}": { takes: { path: NonNullable<operations["delete_v1_threads_thread_id"]["parameters"]["path"]> }; gives: Json<operations["delete_v1_threads_thread_id"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/threads": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_threads"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_threads"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_threads"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/claim": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_claim"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_claim"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_claim"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/messages": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_messages"]["parameters"]["path"]>; header?: NonNullable<operations["post_v1_threads_thread_id_messages"]["parameters"]["header"]>; body?: Json<operations["post_v1_threads_thread_id_messages"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_messages"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/messages": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_messages"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_messages"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_messages"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/actors": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_actors"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_actors"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_actors"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/actors": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_actors"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_actors"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_actors"]["responses"][200]> };
    "DELETE /v1/threads/{thread_id}/actors/{actor}": { takes: { path: NonNullable<operations["delete_v1_threads_thread_id_actors_actor"]["parameters"]["path"]> }; gives: Json<operations["delete_v1_threads_thread_id_actors_actor"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/grants": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_grants"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_grants"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_grants"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/grants": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_grants"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_grants"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_grants"]["responses"][200]> };
    "DELETE /v1/threads/{thread_id}/grants/{grant_id}": { takes: { path: NonNullable<operations["delete_v1_threads_thread_id_grants_grant_id"]["parameters"]["path"]> }; gives: Json<operations["delete_v1_threads_thread_id_grants_grant_id"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/requests": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_requests"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_requests"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_requests"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/requests/{capability}/{request_id}": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_requests_capability_request_id"]["parameters"]["path"]>; header?: NonNullable<operations["post_v1_threads_thread_id_requests_capability_request_id"]["parameters"]["header"]>; body?: Json<operations["post_v1_threads_thread_id_requests_capability_request_id"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_requests_capability_request_id"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/transcript": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_transcript"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_transcript"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_transcript"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/transcript/signatures": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_transcript_signatures"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_transcript_signatures"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_transcript_signatures"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/events": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_events"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_events"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_events"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/messages/{message_id}": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_messages_message_id"]["parameters"]["path"]> }; gives: Json<operations["get_v1_threads_thread_id_messages_message_id"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/messages/{message_id}": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_messages_message_id"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_messages_message_id"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_messages_message_id"]["responses"][200]> };
    "DELETE /v1/threads/{thread_id}/messages/{message_id}": { takes: { path: NonNullable<operations["delete_v1_threads_thread_id_messages_message_id"]["parameters"]["path"]>; query?: NonNullable<operations["delete_v1_threads_thread_id_messages_message_id"]["parameters"]["query"]> }; gives: Json<operations["delete_v1_threads_thread_id_messages_message_id"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/messages/{message_id}/feedback": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_messages_message_id_feedback"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_messages_message_id_feedback"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_messages_message_id_feedback"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/contact": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_contact"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_contact"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_contact"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/runs": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_runs"]["parameters"]["path"]>; header?: NonNullable<operations["post_v1_threads_thread_id_runs"]["parameters"]["header"]>; body?: Json<operations["post_v1_threads_thread_id_runs"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_runs"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/runs": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_runs"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_runs"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_runs"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/runs/{run_id}": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_runs_run_id"]["parameters"]["path"]> }; gives: Json<operations["get_v1_threads_thread_id_runs_run_id"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/runs/{run_id}": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_runs_run_id"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_runs_run_id"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_runs_run_id"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/runs/{run_id}/cancel": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_runs_run_id_cancel"]["parameters"]["path"]>; body?: Json<operations["post_v1_threads_thread_id_runs_run_id_cancel"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_runs_run_id_cancel"]["responses"][200]> };
    "POST /v1/threads/{thread_id}/runs/{run_id}/submit_tool_outputs": { takes: { path: NonNullable<operations["post_v1_threads_thread_id_runs_run_id_submit_tool_outputs"]["parameters"]["path"]>; header?: NonNullable<operations["post_v1_threads_thread_id_runs_run_id_submit_tool_outputs"]["parameters"]["header"]>; body?: Json<operations["post_v1_threads_thread_id_runs_run_id_submit_tool_outputs"]["requestBody"]> }; gives: Json<operations["post_v1_threads_thread_id_runs_run_id_submit_tool_outputs"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/runs/{run_id}/steps": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_runs_run_id_steps"]["parameters"]["path"]>; query?: NonNullable<operations["get_v1_threads_thread_id_runs_run_id_steps"]["parameters"]["query"]> }; gives: Json<operations["get_v1_threads_thread_id_runs_run_id_steps"]["responses"][200]> };
    "GET /v1/threads/{thread_id}/runs/{run_id}/steps/{step_id}": { takes: { path: NonNullable<operations["get_v1_threads_thread_id_runs_run_id_steps_step_id"]["parameters"]["path"]> }; gives: Json<operations["get_v1_threads_thread_id_runs_run_id_steps_step_id"]["responses"][200]> };
    "POST /capabilities/site_info": { takes: { body?: Json<operations["site_info"]["requestBody"]> }; gives: Json<operations["site_info"]["responses"][200]> };
    "POST /capabilities/content_search": { takes: { body?: Json<operations["content_search"]["requestBody"]> }; gives: Json<operations["content_search"]["responses"][200]> };
    "POST /capabilities/contact": { takes: { body?: Json<operations["contact"]["requestBody"]> }; gives: Json<operations["contact"]["responses"][200]> };
    "POST /capabilities/list_pages": { takes: { body?: Json<operations["list_pages"]["requestBody"]> }; gives: Json<operations["list_pages"]["responses"][200]> };
    "POST /capabilities/get_video": { takes: { body?: Json<operations["get_video"]["requestBody"]> }; gives: Json<operations["get_video"]["responses"][200]> };
    "POST /capabilities/get_audio": { takes: { body?: Json<operations["get_audio"]["requestBody"]> }; gives: Json<operations["get_audio"]["responses"][200]> };
    "POST /capabilities/get_image": { takes: { body?: Json<operations["get_image"]["requestBody"]> }; gives: Json<operations["get_image"]["responses"][200]> };
    "POST /capabilities/get_download": { takes: { body?: Json<operations["get_download"]["requestBody"]> }; gives: Json<operations["get_download"]["responses"][200]> };
    "POST /capabilities/get_data": { takes: { body?: Json<operations["get_data"]["requestBody"]> }; gives: Json<operations["get_data"]["responses"][200]> };
    "POST /capabilities/get_quote": { takes: { header?: NonNullable<operations["get_quote"]["parameters"]["header"]>; body?: Json<operations["get_quote"]["requestBody"]> }; gives: Json<operations["get_quote"]["responses"][200]> };
    "POST /capabilities/order_lookup": { takes: { header?: NonNullable<operations["order_lookup"]["parameters"]["header"]>; body?: Json<operations["order_lookup"]["requestBody"]> }; gives: Json<operations["order_lookup"]["responses"][200]> };
    "POST /capabilities/cancel_order": { takes: { header?: NonNullable<operations["cancel_order"]["parameters"]["header"]>; body?: Json<operations["cancel_order"]["requestBody"]> }; gives: Json<operations["cancel_order"]["responses"][200]> };
    "POST /capabilities/product_search": { takes: { header?: NonNullable<operations["product_search"]["parameters"]["header"]>; body?: Json<operations["product_search"]["requestBody"]> }; gives: Json<operations["product_search"]["responses"][200]> };
    "POST /capabilities/inventory_check": { takes: { header?: NonNullable<operations["inventory_check"]["parameters"]["header"]>; body?: Json<operations["inventory_check"]["requestBody"]> }; gives: Json<operations["inventory_check"]["responses"][200]> };
    "POST /capabilities/return_order": { takes: { header?: NonNullable<operations["return_order"]["parameters"]["header"]>; body?: Json<operations["return_order"]["requestBody"]> }; gives: Json<operations["return_order"]["responses"][200]> };
    "POST /capabilities/late_return": { takes: { header?: NonNullable<operations["late_return"]["parameters"]["header"]>; body?: Json<operations["late_return"]["requestBody"]> }; gives: Json<operations["late_return"]["responses"][200]> };
    "POST /capabilities/buy_trail_map": { takes: { header?: NonNullable<operations["buy_trail_map"]["parameters"]["header"]>; body?: Json<operations["buy_trail_map"]["requestBody"]> }; gives: Json<operations["buy_trail_map"]["responses"][200]> };
    "POST /capabilities/place_order": { takes: { header?: NonNullable<operations["place_order"]["parameters"]["header"]>; body?: Json<operations["place_order"]["requestBody"]> }; gives: Json<operations["place_order"]["responses"][200]> };
    "POST /capabilities/contact_human": { takes: { header?: NonNullable<operations["contact_human"]["parameters"]["header"]>; body?: Json<operations["contact_human"]["requestBody"]> }; gives: Json<operations["contact_human"]["responses"][200]> };
    "POST /capabilities/ship_order": { takes: { header?: NonNullable<operations["ship_order"]["parameters"]["header"]>; body?: Json<operations["ship_order"]["requestBody"]> }; gives: Json<operations["ship_order"]["responses"][200]> };
    "POST /capabilities/book_visit": { takes: { header?: NonNullable<operations["book_visit"]["parameters"]["header"]>; body?: Json<operations["book_visit"]["requestBody"]> }; gives: Json<operations["book_visit"]["responses"][200]> };
}
