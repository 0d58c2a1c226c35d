// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// Nested mappings: what an owner lets others spend.
contract Allowances {
    mapping(address => mapping(address => uint)) allowed;
    uint constant LIMIT = 500;

    function approve(address spender, uint amount) public {
        require(amount <= LIMIT);
        allowed[msg.sender][spender] = amount;
        assert(allowed[msg.sender][spender] <= LIMIT); // expect: safe
    }

    function spend(address owner, uint amount) public {
        uint left = allowed[owner][msg.sender];
        require(amount <= left);
        allowed[owner][msg.sender] = left - amount;
        assert(allowed[owner][msg.sender] <= left); // expect: safe
    }

    function limited(address owner, address spender) public view {
        assert(allowed[owner][spender] <= LIMIT); // expect: safe
    }

    function different(address a, address b) public view {
        assert(allowed[a][b] == 0 || a != b); // expect: unsafe
    }
}
