<?php
// Signs a token that names the visitor who is signed in on your site, for its chat.
//
//   $ php chat_token.php SECRET_FILE ISSUER DESK PERSON
//
// The same as chat_token.py, which explains the parameters.

const SECONDS = 600;

function encode(string $data): string
{
    return rtrim(strtr(base64_encode($data), '+/', '-_'), '=');
}

function sign_visitor(string $secret, string $issuer, string $desk, string $person): string
{
    $now = time();
    $claims = [
        'iss' => $issuer,
        'aud' => $desk,
        'sub' => $person,
        'iat' => $now,
        'exp' => $now + SECONDS,
        'scope' => 'threads actions',
    ];
    $header = ['alg' => 'HS256', 'typ' => 'JWT'];
    $signed = encode(json_encode($header)) . '.' . encode(json_encode($claims));
    return $signed . '.' . encode(hash_hmac('sha256', $signed, $secret, true));
}

if (isset($argv) && count($argv) === 5) {
    [, $file, $issuer, $desk, $person] = $argv;
    echo sign_visitor(trim(file_get_contents($file)), $issuer, $desk, $person), "\n";
}
