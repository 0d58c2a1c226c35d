// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Loops without bound, and one with a bound inside another.
contract Loops {
    function twice(uint8 n) public pure {
        uint i = 0;
        uint sum = 0;
        while (i < n) {
            i++;
            sum += 2;
        }
        assert(sum == 2 * uint(n)); // expect: safe
    }

    function notSix(uint8 n) public pure {
        uint sum = 0;
        for (uint i = 0; i < n; i++)
            sum += 2;
        assert(sum != 6); // expect: unsafe
    }

    function nested(uint8 n, uint8 m) public pure {
        uint steps = 0;
        for (uint i = 0; i < n; i++)
            for (uint j = 0; j < m; j++)
                steps++;
        assert(n == 0 || m == 0 || steps > 0); // expect: safe
    }
}
