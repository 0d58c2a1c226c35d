// targets: overflow, underflow
// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Checked arithmetic: each operation is a target.
contract Arithmetic {
    uint8 x;

    function add(uint8 y) public {
        require(y < 100 && x < 100);
        x = x + y; // expect: safe
    }

    function scale(uint8 y) public pure returns (uint8) {
        return y * 3; // expect: unsafe
    }

    function sub(uint8 y) public pure returns (uint8) {
        require(y >= 5);
        return y - 5; // expect: safe
    }

    function difference(uint8 a, uint8 b) public pure returns (uint8) {
        return a - b; // expect: unsafe
    }
}
